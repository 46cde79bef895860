/* Coordinates, groups and members on meshes of two and more axes; layouts of groups on them. */
#include "placements.h"
#include "shards.h"
#include "test.h"

enum { OUTER = 1, INNER = 2 };

static const Mesh two_by_two = {2, {{AXIS_rep, 2}, {AXIS_dp, 2}}};

TEST(ranks_count_row_major) {
    const Mesh m = {3, {{AXIS_rep, 2}, {AXIS_dp, 3}, {AXIS_tp, 4}}};
    assert_int_equal(mesh_ranks(&m), 24);
    for (int rank = 0; rank < 24; rank++) {
        assert_int_equal(mesh_coordinate(&m, rank, 0), rank / 12);
        assert_int_equal(mesh_coordinate(&m, rank, 1), rank / 4 % 3);
        assert_int_equal(mesh_coordinate(&m, rank, 2), rank % 4);
        assert_int_equal(mesh_index(&m, rank, mesh_all_axes(&m)), rank);
        assert_int_equal(mesh_index(&m, rank, 0), 0);
        assert_int_equal(mesh_index(&m, rank, 1 | 4), rank / 12 * 4 + rank % 4);
    }
}

/* Replicas read other samples and hold the same shards: (replicate, shard). */
TEST(axes_split_by_their_roles) {
    const Mesh *m = &two_by_two;
    assert_int_equal(mesh_sample_axes(m), OUTER | INNER);
    assert_int_equal(mesh_parameter_axes(m), INNER);
    static const int64_t shard[] = {0, 1, 0, 1}, samples[] = {0, 1, 2, 3};
    for (int rank = 0; rank < 4; rank++) {
        assert_int_equal(mesh_index(m, rank, mesh_parameter_axes(m)), shard[rank]);
        assert_int_equal(mesh_index(m, rank, mesh_sample_axes(m)), samples[rank]);
    }
    const Mesh lonely = {3, {{AXIS_rep, 1}, {AXIS_dp, 1}, {AXIS_pp, 5}}};
    assert_int_equal(mesh_sample_axes(&lonely), 0);
    assert_int_equal(mesh_parameter_axes(&lonely), 0);
}

static void assert_group(const Mesh *m, AxisSet set, int rank, int n, const int *members) {
    MeshGroup g = mesh_group(m, set, rank);
    assert_int_equal(g.size, n);
    assert_int_equal(g.size, mesh_extent(m, set));
    for (int k = 0; k < n; k++) assert_int_equal(mesh_member(&g, k), members[k]);
    assert_int_equal(mesh_member(&g, g.index), rank);
    assert_int_equal(g.index, mesh_index(m, rank, set));
}

TEST(groups_of_a_square) {
    assert_group(&two_by_two, INNER, 2, 2, (int[]){2, 3});
    assert_group(&two_by_two, OUTER, 3, 2, (int[]){1, 3});
    assert_group(&two_by_two, OUTER | INNER, 2, 4, (int[]){0, 1, 2, 3});
    assert_group(&two_by_two, 0, 2, 1, (int[]){2});
}

/* Every set of the axes: a rank is in its group, at its number, and the groups share out the ranks.
 */
static void assert_shared_out(const Mesh *m) {
    int64_t ranks = mesh_ranks(m);
    for (AxisSet set = 0; set <= mesh_all_axes(m); set++) {
        int met[256] = {0};
        for (int rank = 0; rank < ranks; rank++) {
            MeshGroup g = mesh_group(m, set, rank);
            assert_int_equal(mesh_member(&g, g.index), rank);
            assert_int_equal(g.index, mesh_index(m, rank, set));
            assert_int_equal(g.size, mesh_extent(m, set));
            for (int k = 0; g.index == 0 && k < g.size; k++) {
                int member = mesh_member(&g, k);
                met[member]++;
                assert_int_equal(mesh_index(m, member, set), k);
                assert_int_equal(mesh_index(m, member, mesh_all_axes(m) & ~set),
                                 mesh_index(m, rank, mesh_all_axes(m) & ~set));
            }
        }
        for (int rank = 0; rank < ranks; rank++) assert_int_equal(met[rank], 1);
    }
}

/* Rank r has piece r of the first run, and of the second one the piece that is as far from the end;
 * along tp, inside of that, parts are in order. */
TEST(every_second_run_is_dealt_backwards) {
    const Mesh m = {3, {{AXIS_dp, 2}, {AXIS_tp, 2}, {AXIS_zigzag, 3}}};
    AxisSet both = 6, pieces = 4;
    assert_int_equal(mesh_backward_axes(&m), pieces);
    for (int64_t rank = 0; rank < mesh_ranks(&m); rank++) {
        int64_t piece = rank % 3, part = rank / 3 % 2;
        assert_int_equal(mesh_part_of_run(&m, rank, pieces, false), piece);
        assert_int_equal(mesh_part_of_run(&m, rank, pieces, true), 2 - piece);
        assert_int_equal(mesh_part_of_run(&m, rank, both, true), 2 * (2 - piece) + part);
        assert_int_equal(mesh_part(&m, rank, both), 2 * piece + part);
    }
}

/* Over three ranks of six pieces of two rows. */
TEST(a_part_has_two_runs) {
    const Mesh m = {1, {{AXIS_zigzag, 3}}};
    const Type t = {.rank = 1, .dim = {4}};
    Placement p = {.cut = {1}, .outer = {2}, .size = {12}};
    int met[12] = {0};
    assert_true(placement_is_sound(&p, &m));
    for (int64_t rank = 0; rank < 3; rank++) {
        DimPart part = placement_part(&p, &m, rank, &t, 0);
        Positions at;
        assert_true(dim_positions(&part, &at));
        for (int64_t i = 0; i < 4; i++) {
            int64_t position = position_at(&at, i);
            assert_int_equal(position, i < 2 ? 2 * rank + i : 8 - 2 * rank + i);
            assert_int_equal(position_find(&at, position), i);
            met[position]++;
        }
        assert_int_equal(position_find(&at, 12), 4 + (rank ? 2 * rank : 0));
    }
    for (int i = 0; i < 12; i++) assert_int_equal(met[i], 1);
    p.outer[0] = 3;
    assert_false(placement_is_sound(&p, &m));
}

TEST(groups_share_out_the_ranks) {
    const Mesh one_of_one = {4, {{AXIS_pp, 2}, {AXIS_rep, 3}, {AXIS_tp, 1}, {AXIS_dp, 2}}};
    const Mesh eight = {MESH_AXES,
                        {{AXIS_pp, 2},
                         {AXIS_rep, 2},
                         {AXIS_dp, 2},
                         {AXIS_reshard_group, 2},
                         {AXIS_ep, 2},
                         {AXIS_cp, 2},
                         {AXIS_sp, 2},
                         {AXIS_tp, 2}}};
    Mesh uneven = eight;
    uneven.axis[3].size = uneven.axis[6].size = 1;
    uneven.axis[1].size = 3;
    assert_shared_out(&one_of_one);
    assert_shared_out(&eight);
    assert_shared_out(&uneven);
}

/* Two parameters, of 5 and n elements, the second one at a multiple of 4. */
TEST(every_element_is_in_one_shard) {
    for (int64_t n = 1; n < 10; n++)
        for (int64_t ranks = 1; ranks < 9; ranks++) {
            const Mesh m = {2, {{AXIS_rep, 2}, {AXIS_dp, ranks}}};
            LayoutPlace place[2] = {{.n = 5}, {.n = n, .offset = layout_place(5, 4)}};
            int64_t padding = 0, end = layout_end(NULL, &place[1]);
            Layout l = layout_of(&m, mesh_parameter_axes(&m), end, n % 2);
            int held[2][9] = {{0}};
            assert_true(layout_is_sound(&l, &m));
            assert_int_equal(l.unpadded, n % 2 ? l.padded : end);
            for (int64_t rank = 0; rank < 2 * ranks; rank++) {
                int64_t first = layout_first(&l, &m, rank);
                assert_int_equal(first, rank % ranks * l.shard);
                padding += layout_padding(&l, first);
                for (int k = 0; k < 2; k++) {
                    LayoutPiece p = layout_piece(&l, &place[k], rank % ranks, 0);
                    assert_int_equal(layout_piece(&l, &place[k], rank % ranks, 1).count, 0);
                    for (int64_t j = 0; j < p.count; j++) {
                        int64_t element = layout_element(&l, &place[k], p.first + j);
                        assert_int_equal(layout_shard_of(&l, element), rank % ranks);
                        assert_int_equal(layout_at(&l, element), p.at + j);
                        held[k][p.first + j]++;
                    }
                }
            }
            for (int k = 0; k < 2; k++) /* one on each replica */
                for (int64_t j = 0; j < place[k].n; j++) assert_int_equal(held[k][j], 2);
            assert_int_equal(padding, 2 * (l.padded - l.unpadded));
        }
}

/* What a rank has of x, and where. */
static void cut(const Layout *l, const LayoutPlace *p, int64_t number, const int *x, int *shard) {
    LayoutPiece held;
    LayoutHeld all = layout_held(l, p, number);
    int64_t n = 0;
    for (int64_t j = 0; (held = layout_piece(l, p, number, j)).count; j++) {
        assert_int_equal(held.at, all.at + n); /* the pieces are one run */
        n += held.count;
        for (int64_t i = 0; i < held.count; i++) shard[held.at + i] = x[held.first + i];
    }
    assert_int_equal(all.n, n);
}

/* A parameter of `rows` rows of 3, at the start of the shards or not: what the shards hold, one
 * after the other, is a vector in which every element is where layout_element says. A chunk of less
 * than a parameter's share comes round again. */
TEST(chunks_are_gathered_to_what_was_cut) {
    for (int64_t rows = 1; rows < 10; rows++)
        for (int64_t ranks = 1; ranks < 9; ranks++) {
            const Mesh m = {2, {{AXIS_rep, 2}, {AXIS_dp, ranks}}};
            AxisSet axes = mesh_parameter_axes(&m);
            int64_t chunk = layout_chunk(&m, axes, rows, 3 * rows), n = 3 * rows;
            for (LayoutPlace p = {n, 1 - ranks / 8, chunk}; p.chunk > 0; p.chunk /= 3) {
                Layout l = layout_by_chunks(&m, axes, 40);
                int x[27], vector[8 * 40] = {0}, met = 0;
                assert_true(layout_is_sound(&l, &m));
                assert_true(layout_end(&l, &p) <= layout_room(&l, &p));
                for (int i = 0; i < n; i++) x[i] = i + 1;
                for (int64_t k = 0; k < ranks; k++) cut(&l, &p, k, x, vector + k * l.shard);
                for (int64_t e = 0; e < n; e++) {
                    int64_t at = layout_element(&l, &p, e), run = layout_run(&l, &p, e);
                    assert_int_equal(vector[at], x[e]);
                    assert_int_equal(vector[at + run - 1], x[e + run - 1]);
                    assert_int_equal(layout_shard_of(&l, at), layout_shard_of(&l, at + run - 1));
                    assert_int_equal(layout_element_of(&l, &p, at), e);
                }
                for (int i = 0; i < ranks * l.shard; i++) met += vector[i] != 0;
                assert_int_equal(met, n);
                assert_int_equal(layout_is_whole(&p), p.chunk >= n);
            }
        }
}

/* a[5, 3] b[3] c[1, 2] d[3, 2], each by rows over 4 ranks: what rank 2 sends of a's elements 100,
 * 101, .., b's 200, .. */
TEST(rank_2_of_4_sends_what_pytorch_sends) {
    static const int64_t rows[] = {5, 3, 1, 3}, elements[] = {15, 3, 2, 6};
    static const int wanted[] = {112, 113, 114, 0, 0, 0, 202, 0, 0, 404, 405};
    const Mesh m = {1, {{AXIS_dp, 4}}};
    LayoutPlace p[4];
    int64_t end = 0;
    for (int k = 0; k < 4; k++) {
        p[k] = (LayoutPlace){elements[k], end, layout_chunk(&m, 1, rows[k], elements[k])};
        end += p[k].chunk;
    }
    Layout l = layout_by_chunks(&m, 1, end);
    assert_int_equal(l.shard, 11);
    assert_int_equal(l.padded, 44);
    int shard[11] = {0}, x[15];
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < elements[k]; i++) x[i] = 100 * (k + 1) + i;
        cut(&l, &p[k], 2, x, shard);
    }
    assert_memory_equal(shard, wanted, sizeof wanted);
}

/* a[3, 4] b[2, 4, 3] along axis 1, c[3, 2] by rows over 2 ranks: what they send of a's elements
 * 100, 101, .., b's 200, .., c's 300, .. */
TEST(columns_are_sent_as_pytorch_sends_them) {
    static const int64_t dim[3][3] = {{3, 4}, {2, 4, 3}, {3, 2}}, n[] = {12, 24, 6};
    static const int wanted[2][22] = {{100, 101, 104, 105, 108, 109, 200, 201, 202, 203, 204,
                                       205, 212, 213, 214, 215, 216, 217, 300, 301, 302, 303},
                                      {102, 103, 106, 107, 110, 111, 206, 207, 208, 209, 210,
                                       211, 218, 219, 220, 221, 222, 223, 304, 305, 0,   0}};
    const Mesh m = {1, {{AXIS_dp, 2}}};
    LayoutPlace p[3] = {{n[0], 0, layout_chunk_along(&m, 1, 4, 1, n[0])},
                        {n[1], 6, layout_chunk_along(&m, 1, 4, 3, n[1])},
                        {n[2], 18, layout_chunk(&m, 1, 3, n[2])}};
    Layout l = layout_by_chunks(&m, 1, 22);
    for (int64_t number = 0; number < 2; number++) {
        int shard[22] = {0}, x[24];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < n[k]; i++) x[i] = 100 * (k + 1) + i;
            cut(&l, &p[k], number, x, shard);
            assert_int_equal(layout_axis(&l, &p[k], dim[k], k == 1 ? 3 : 2), k < 2);
        }
        assert_memory_equal(shard, wanted[number], sizeof shard);
    }
    p[0].chunk = 3;
    assert_int_equal(layout_axis(&l, &p[0], dim[0], 2), -1);
    assert_int_equal(layout_chunk_along(&m, 0, 4, 1, 12), 12); /* one rank */
}

TEST(without_axes_every_rank_holds_all) {
    Layout l = layout_of(&two_by_two, 0, 7, false);
    assert_int_equal(l.shard, 7);
    for (int64_t rank = 0; rank < 4; rank++)
        assert_int_equal(layout_first(&l, &two_by_two, rank), 0);
}

/* [2, outer * size * inner, 3] along the middle dimension, of which each rank along tp has its part
 * of `size`; ranks along dp have the same. */
static void assert_parts(const Mesh *m, AxisSet tp, int64_t outer, int64_t each, int64_t inner) {
    int64_t ranks = mesh_extent(m, tp), size = each * ranks, part = outer * each * inner;
    TensorCut c = {.axes = tp, .dim = 1, .outer = outer, .size = size};
    const int64_t dim[] = {2, part, 3}, n = 2 * part * 3;
    int met[2 * 3 * 6 * 2 * 3] = {0};
    for (int64_t rank = 0; rank < mesh_ranks(m); rank++) {
        TensorPart p = tensor_part(&c, m, rank, dim, n);
        int64_t before = -1, number = mesh_index(m, rank, tp);
        assert_int_equal(p.kept, p.run);
        for (int64_t e = 0; e < n; e++) {
            int64_t all = tensor_element(&p, e), run = tensor_run(&p, e);
            int64_t at = all / 3 % (part * ranks) / inner % size;
            assert_true(at >= number * each && at < (number + 1) * each);
            assert_true(all > before && run >= 1 && e + run <= n);
            assert_int_equal(tensor_element(&p, e + run - 1), all + run - 1);
            assert_int_equal(tensor_before(&p, all), e);
            assert_int_equal(tensor_before(&p, all + 1), e + 1);
            assert_int_equal(tensor_before(&p, before + 1), e);
            before = all;
            met[all]++;
        }
    }
    for (int64_t e = 0; e < n * ranks; e++) assert_int_equal(met[e], mesh_ranks(m) / ranks);
}

TEST(parts_share_out_a_tensor) {
    for (int64_t ranks = 2; ranks < 4; ranks++)
        for (int64_t outer = 1; outer < 4; outer++)
            for (int64_t each = 1; each < 3; each++)
                for (int64_t inner = 1; inner < 3; inner++) {
                    const Mesh inside = {2, {{AXIS_dp, 2}, {AXIS_tp, ranks}}};
                    const Mesh outside = {2, {{AXIS_tp, ranks}, {AXIS_dp, 2}}};
                    assert_parts(&inside, 2, outer, each, inner);
                    assert_parts(&outside, 1, outer, each, inner);
                }
}

/* [2, 5, 3] along the middle: parts of ceil(5 / ranks) entries, the last ones with padding. */
TEST(parts_end_in_padding) {
    for (int64_t ranks = 2; ranks < 8; ranks++) {
        const Mesh m = {1, {{AXIS_tp, ranks}}};
        int64_t each = (5 + ranks - 1) / ranks, n = 2 * each * 3, met[30] = {0};
        const int64_t dim[] = {2, each, 3}, whole[] = {2, 5, 3};
        TensorCut c = {.axes = 1, .dim = 1, .outer = 1, .size = 5};
        assert_true(tensor_cut_is_sound(&c, &m, dim, 3, false));
        assert_true(tensor_cut_is_sound(&c, &m, whole, 3, true));
        assert_int_equal(tensor_whole_elements(&c, &m, n), 30);
        for (int64_t rank = 0; rank < ranks; rank++) {
            TensorPart p = tensor_part(&c, &m, rank, dim, n);
            for (int64_t e = 0; e < n; e++) {
                int64_t at = rank * each + e / 3 % each, run = tensor_run(&p, e);
                assert_int_equal(tensor_pads(&p, e), at >= 5);
                for (int64_t k = 0; k < run; k++) assert_int_equal(tensor_pads(&p, e + k), at >= 5);
                if (at >= 5) continue;
                int64_t all = tensor_element(&p, e);
                assert_int_equal(all, (e / 3 / each * 5 + at) * 3 + e % 3);
                assert_int_equal(tensor_element(&p, e + run - 1), all + run - 1);
                assert_int_equal(tensor_before(&p, all), e);
                met[all]++;
            }
            assert_int_equal(tensor_before(&p, 30), n);
        }
        for (int64_t e = 0; e < 30; e++) assert_int_equal(met[e], 1);
    }
    TensorCut runs = {.axes = 1, .dim = 0, .outer = 3, .size = 5};
    assert_false(tensor_cut_is_sound(&runs, &two_by_two, (int64_t[]){15}, 1, true));
}

TEST(without_a_cut_the_part_is_the_tensor) {
    TensorCut none = {0};
    const int64_t dim[] = {3, 4};
    for (int64_t rank = 0; rank < 4; rank++) {
        TensorPart p = tensor_part(&none, &two_by_two, rank, dim, 12);
        for (int64_t e = 0; e < 12; e++) {
            assert_int_equal(tensor_element(&p, e), e);
            assert_int_equal(tensor_run(&p, e), 12 - e);
            assert_int_equal(tensor_before(&p, e), e);
        }
    }
}

/* Ranks along an axis that cuts parameters write what they hold; others share out the writing. */
TEST(parts_are_written_by_their_ranks) {
    const Mesh m = {3, {{AXIS_rep, 2}, {AXIS_dp, 2}, {AXIS_tp, 2}}};
    Layout l = layout_of(&m, 2, 12, false);
    l.cut = 4;
    int written[2][12] = {{0}};
    for (int64_t rank = 0; rank < 8; rank++) {
        LayoutRange r = layout_written(&l, &m, rank);
        assert_int_equal(r.end - r.first, layout_written_most(&l, &m));
        for (int64_t e = r.first; e < r.end; e++) written[rank % 2][e]++;
    }
    for (int64_t e = 0; e < 12; e++) assert_true(written[0][e] == 1 && written[1][e] == 1);
}

RUN_TESTS(NULL, NULL)

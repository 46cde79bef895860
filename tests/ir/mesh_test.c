/* Coordinates, groups and members on meshes of two and more axes; layouts of groups on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shards.h"

enum { OUTER = 1, INNER = 2 };

static const Mesh two_by_two = {2, {{AXIS_rep, 2}, {AXIS_dp, 2}}};

static void ranks_count_row_major(void **state) {
    (void)state;
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
static void axes_split_by_their_roles(void **state) {
    (void)state;
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

static void groups_of_a_square(void **state) {
    (void)state;
    assert_group(&two_by_two, INNER, 2, 2, (int[]){2, 3});
    assert_group(&two_by_two, OUTER, 3, 2, (int[]){1, 3});
    assert_group(&two_by_two, OUTER | INNER, 2, 4, (int[]){0, 1, 2, 3});
    assert_group(&two_by_two, 0, 2, 1, (int[]){2});
}

/* Every set of four axes, one of them of one rank: a rank is in its group, at its number, and the
 * groups share out the ranks. */
static void groups_share_out_the_ranks(void **state) {
    (void)state;
    const Mesh m = {4, {{AXIS_pp, 2}, {AXIS_rep, 3}, {AXIS_tp, 1}, {AXIS_dp, 2}}};
    for (AxisSet set = 0; set <= mesh_all_axes(&m); set++) {
        int met[12] = {0};
        for (int rank = 0; rank < 12; rank++) {
            MeshGroup g = mesh_group(&m, set, rank);
            assert_int_equal(mesh_member(&g, g.index), rank);
            assert_int_equal(g.index, mesh_index(&m, rank, set));
            assert_int_equal(g.size, mesh_extent(&m, set));
            for (int k = 0; g.index == 0 && k < g.size; k++) met[mesh_member(&g, k)]++;
        }
        for (int rank = 0; rank < 12; rank++) assert_int_equal(met[rank], 1);
    }
}

/* Two parameters, of 5 and n elements, the second one at a multiple of 4. */
static void every_element_is_in_one_shard(void **state) {
    (void)state;
    for (int64_t n = 1; n < 10; n++)
        for (int64_t ranks = 1; ranks < 9; ranks++) {
            const Mesh m = {2, {{AXIS_rep, 2}, {AXIS_dp, ranks}}};
            int64_t offset[2] = {0, layout_place(5, 4)}, elements[2] = {5, n}, padding = 0;
            Layout l = layout_of(&m, mesh_parameter_axes(&m), offset[1] + n, n % 2);
            int held[2][9] = {{0}};
            assert_true(layout_is_sound(&l, &m));
            assert_int_equal(l.unpadded, n % 2 ? l.padded : offset[1] + n);
            for (int64_t rank = 0; rank < 2 * ranks; rank++) {
                int64_t first = layout_first(&l, &m, rank);
                assert_int_equal(first, rank % ranks * l.shard);
                padding += layout_padding(&l, first);
                for (int k = 0; k < 2; k++) {
                    LayoutPiece p = layout_piece(&l, first, offset[k], elements[k]);
                    for (int64_t j = 0; j < p.count; j++) {
                        int64_t element = offset[k] + p.first + j;
                        assert_int_equal(layout_shard_of(&l, element), rank % ranks);
                        assert_int_equal(layout_at(&l, element), p.at + j);
                        held[k][p.first + j]++;
                    }
                }
            }
            for (int k = 0; k < 2; k++) /* one on each replica */
                for (int64_t j = 0; j < elements[k]; j++) assert_int_equal(held[k][j], 2);
            assert_int_equal(padding, 2 * (l.padded - l.unpadded));
        }
}

static void without_axes_every_rank_holds_all(void **state) {
    (void)state;
    Layout l = layout_of(&two_by_two, 0, 7, false);
    assert_int_equal(l.shard, 7);
    for (int64_t rank = 0; rank < 4; rank++)
        assert_int_equal(layout_first(&l, &two_by_two, rank), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_count_row_major),
        cmocka_unit_test(axes_split_by_their_roles),
        cmocka_unit_test(groups_of_a_square),
        cmocka_unit_test(groups_share_out_the_ranks),
        cmocka_unit_test(every_element_is_in_one_shard),
        cmocka_unit_test(without_axes_every_rank_holds_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

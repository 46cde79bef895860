/* Checkpoints of tensors that ranks share out before their parts are split: whatever the mesh, each
 * element of a tensor reads back as it was, from boxes of the tensor. */
#include <string.h>

#include "checkpoint/states.h"
#include "test.h"

/* Tensors are numbered in one sequence; an element of the vector is that of the part's tensor. */
static CkContents contents;

static float number_of(uint32_t t, int64_t e) { return (float)(t * 1000 + (uint64_t)e); }

enum { PADDING = -1 }; /* in the vector; no file may have it */

/* By hand: index along the cut axis from the part's index; -1: padding. */
static int64_t whole_element(const CkTensor *t, int64_t part, int64_t e) {
    int64_t parts = t->parts, below = 1;
    for (int k = t->cut.dim + 1; k < t->rank; k++) below *= t->dim[k];
    int64_t length = t->dim[t->cut.dim], run = (length / t->cut.outer + parts - 1) / parts;
    int64_t mine = run * t->cut.outer;
    int64_t at = e / below % mine, row = at / run * (run * parts) + part * run + at % run;
    return row < length ? (e / below / mine * length + row) * below + e % below : -1;
}

static int fetch_parts(void *user, uint32_t v, int64_t first, int64_t n, void *to, char *why) {
    (void)user;
    (void)why;
    const CkVector *q = &contents.vector[v];
    for (int64_t i = 0; i < n; i++) {
        int64_t part = (first + i) / q->layout.padded, in = (first + i) % q->layout.padded;
        for (uint32_t t = q->first; t < q->first + q->n; t++) {
            const CkTensor *of = &contents.tensor[t];
            LayoutPlace place = ck_place(of);
            for (int64_t e = 0; e < place.n; e++) {
                int64_t whole = whole_element(of, part, e);
                if (layout_element(&q->layout, &place, e) == in)
                    ((float *)to)[i] = whole < 0 ? PADDING : number_of(t, whole);
            }
        }
    }
    return 0;
}

/* A tensor whose axis ranks along `cut` share out. */
static void cut_last(CkContents *c, int dim, int64_t runs) {
    CkTensor *t = &c->tensor[c->n_tensor - 1];
    int64_t parts = mesh_extent(&c->mesh, c->vector[c->n_vector - 1].layout.cut);
    t->cut = (TensorCut){c->vector[c->n_vector - 1].layout.cut, dim, runs, t->dim[dim] / runs};
    t->parts = parts;
}

static void add_cut_tensors(CkContents *c, AxisSet split, AxisSet cut, bool runs_inside) {
    add_vector(c, split, 8 + 12 + 18 + 12 + 1);
    c->vector[c->n_vector - 1].layout.cut = cut;
    add_tensor(c, "rows", 2, (int64_t[]){4, 4}, 0);
    cut_last(c, 0, 1);
    add_tensor(c, "columns", 2, (int64_t[]){3, 8}, 8);
    cut_last(c, 1, 1);
    add_tensor(c, "runs", 2, (int64_t[]){12, 3}, 20);
    cut_last(c, 0, 3);
    add_tensor(c, "inner", 3, (int64_t[]){runs_inside ? 3 : 1, 8, runs_inside ? 1 : 3}, 38);
    cut_last(c, 1, 2);
    add_vector(c, split, 1);
    c->vector[c->n_vector - 1].role = STATE_MOMENT1;
    c->vector[c->n_vector - 1].layout.cut = cut;
    add_tensor(c, "moments", 2, (int64_t[]){6, 4}, 0);
    cut_last(c, 1, 1);
    CkTensor *t = &c->tensor[c->n_tensor - 1];
    t->chunk = layout_chunk(&c->mesh, split, 6, ck_elements(t));
    c->vector[c->n_vector - 1].layout = layout_by_chunks(&c->mesh, split, t->chunk);
    c->vector[c->n_vector - 1].layout.cut = cut;
}

/* The next tensor behind the others, whose dimension `dim` the ranks share out with padding. */
static void add_padded(CkContents *c, const char *name, int rank, const int64_t *size, int dim) {
    CkVector *v = &c->vector[c->n_vector - 1];
    int64_t end = v->n ? v->layout.unpadded : 0;
    AxisSet cut = v->layout.cut;
    add_tensor(c, name, rank, size, end);
    cut_last(c, dim, 1);
    v->layout =
        layout_of(&c->mesh, v->layout.split, end + ck_elements(&c->tensor[c->n_tensor - 1]), false);
    v->layout.cut = cut;
}

/* The same in a vector of its own whose shards cut the part along `axis`. */
static void add_padded_chunks(CkContents *c, const char *name, int rank, const int64_t *size,
                              int dim, int axis, AxisSet split, AxisSet cut) {
    int64_t part[MAX_RANK], below = 1;
    add_vector(c, split, 1);
    CkVector *v = &c->vector[c->n_vector - 1];
    v->layout.cut = cut;
    add_tensor(c, name, rank, size, 0);
    cut_last(c, dim, 1);
    CkTensor *t = &c->tensor[c->n_tensor - 1];
    ck_part_dim(t, part);
    for (int k = axis + 1; k < rank; k++) below *= part[k];
    t->chunk = axis ? layout_chunk_along(&c->mesh, split, part[axis], below, ck_elements(t))
                    : layout_chunk(&c->mesh, split, part[0], ck_elements(t));
    LayoutPlace place = ck_place(t);
    v->layout.shard = t->chunk; /* layout_end counts shards */
    v->layout.padded = t->chunk * mesh_extent(&c->mesh, split);
    v->layout = layout_by_chunks(&c->mesh, split, layout_end(&v->layout, &place));
    v->layout.cut = cut;
}

static void make_padded(Mesh mesh, AxisSet split, AxisSet cut) {
    contents = empty_state(1, 1, paths);
    contents.mesh = mesh;
    add_vector(&contents, split, 1);
    contents.vector[0].layout.cut = cut;
    add_padded(&contents, "rows", 2, (int64_t[]){5, 3}, 0);
    add_padded(&contents, "columns", 2, (int64_t[]){3, 5}, 1);
    add_padded(&contents, "middle", 3, (int64_t[]){2, 5, 3}, 1);
    add_padded_chunks(&contents, "by rows", 2, (int64_t[]){7, 3}, 0, 0, split, cut);
    add_padded_chunks(&contents, "other axis", 2, (int64_t[]){5, 6}, 0, 1, split, cut);
    add_padded_chunks(&contents, "own axis", 2, (int64_t[]){3, 11}, 1, 1, split, cut);
}

static void make_contents(Mesh mesh, AxisSet split, AxisSet cut, bool runs_inside) {
    contents = empty_state(1, 1, paths);
    contents.mesh = mesh;
    add_cut_tensors(&contents, split, cut, runs_inside);
}

static void assert_all_reads(Checkpoint *k) {
    float got[128];
    for (uint32_t t = 0; t < contents.n_tensor; t++) {
        int64_t elements = contents.tensor[t].elements;
        for (int64_t first = 0; first < elements; first++)
            for (int64_t n = 0; n <= elements - first; n++) {
                assert_int_equal(checkpoint_read(k, t, first, n, got, error), 0);
                for (int64_t i = 0; i < n; i++) assert_true(got[i] == number_of(t, first + i));
            }
    }
}

/* Pieces are boxes, which share out every tensor. */
static void assert_boxes(void) {
    int met[8][64] = {{0}};
    for (int32_t r = 0; r < mesh_ranks(&contents.mesh); r++) {
        uint32_t n;
        CkPiece *p = ck_pieces(&contents, r, paths, &n);
        for (uint32_t i = 0; i < n; i++) {
            const CkTensor *t = &contents.tensor[p[i].tensor];
            for (int64_t e = 0; e < p[i].n; e++) {
                int64_t at = 0, left = e, index[MAX_RANK];
                for (int k = t->rank - 1; k >= 0; k--) {
                    index[k] = p[i].low[k] + left % p[i].extent[k];
                    left /= p[i].extent[k];
                }
                assert_int_equal(left, 0);
                for (int k = 0; k < t->rank; k++) at = at * t->dim[k] + index[k];
                if (!e) assert_int_equal(at, p[i].first);
                assert_int_equal(at, ck_element(&contents, t, ck_piece_element(&p[i], e)));
                assert_int_equal(ck_piece_index(&p[i], ck_piece_element(&p[i], e)), e);
                met[p[i].tensor][at]++;
            }
            for (uint32_t j = 0; j < i; j++)
                assert_true(p[j].tensor != p[i].tensor || p[j].class != p[i].class);
        }
    }
    for (uint32_t t = 0; t < contents.n_tensor; t++)
        for (int64_t e = 0; e < contents.tensor[t].elements; e++) assert_int_equal(met[t][e], 1);
}

static const Mesh meshes[] = {{1, {{AXIS_tp, 2}}},
                              {2, {{AXIS_dp, 2}, {AXIS_tp, 2}}},
                              {2, {{AXIS_tp, 2}, {AXIS_dp, 3}}},
                              {3, {{AXIS_rep, 2}, {AXIS_dp, 2}, {AXIS_tp, 2}}}};
static const AxisSet split_of[] = {0, 1, 2, 2}, cut_of[] = {1, 2, 1, 4};
/* 5 rows over 4 ranks: the last one's part is padding only. */
static const Mesh padded_meshes[] = {{1, {{AXIS_tp, 2}}},
                                     {2, {{AXIS_dp, 2}, {AXIS_tp, 2}}},
                                     {2, {{AXIS_tp, 4}, {AXIS_dp, 3}}},
                                     {3, {{AXIS_rep, 2}, {AXIS_dp, 2}, {AXIS_tp, 3}}}};

static void assert_reads_back(void) {
    assert_int_equal(ck_files(&contents, paths, error), 0);
    if (form == CHECKPOINT_SHARDED) assert_boxes();
    fetch_from = fetch_parts;
    write_state(&contents, scratch);
    Checkpoint *k = open_step();
    assert_all_reads(k);
    assert_int_equal(ck_verify(k, error), 0);
    checkpoint_close(k);
    ck_remove_folder(in_folder("step-00000400"));
}

TEST_WITH(every_range_of_a_cut_tensor_reads_back, begin, end) {
    for (size_t i = 0; i < 2 * ARRAY_LEN(meshes); i++) {
        size_t m = i / 2;
        form = i % 2 ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        make_contents(meshes[m], split_of[m], cut_of[m], form == CHECKPOINT_FULL);
        assert_reads_back();
    }
}

TEST_WITH(files_have_no_padding_of_parts, begin, end) {
    for (size_t i = 0; i < 2 * ARRAY_LEN(padded_meshes); i++) {
        size_t m = i / 2;
        form = i % 2 ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        make_padded(padded_meshes[m], split_of[m], cut_of[m]);
        assert_reads_back();
    }
}

TEST_WITH(a_manifest_says_how_tensors_are_cut, begin, end) {
    CkContents back;
    make_contents(meshes[1], split_of[1], cut_of[1], false);
    assert_int_equal(ck_files(&contents, paths, error), 0);
    assert_int_equal(oldest_reader_of(&contents), 6);
    assert_int_equal(read_manifest(&contents, &back), 0);
    for (uint32_t t = 0; t < back.n_tensor; t++) {
        assert_memory_equal(&back.tensor[t].cut, &contents.tensor[t].cut, sizeof(TensorCut));
        assert_int_equal(back.tensor[t].parts, contents.tensor[t].parts);
    }
    contents.tensor[0].cut.size = 3; /* four rows are not divisible by it */
    assert_int_equal(read_manifest(&contents, &back), EXIT_CORRUPT);
}

TEST_WITH(a_manifest_tells_padding_to_new_readers_only, begin, end) {
    CkContents back;
    make_padded(padded_meshes[1], split_of[1], cut_of[1]);
    assert_int_equal(ck_files(&contents, paths, error), 0);
    assert_int_equal(oldest_reader_of(&contents), 7);
    assert_int_equal(read_manifest(&contents, &back), 0);
    for (uint32_t t = 0; t < back.n_tensor; t++)
        assert_int_equal(ck_elements(&back.tensor[t]), ck_elements(&contents.tensor[t]));
}

TEST_WITH(runs_behind_another_axis_need_form_full, begin, end) {
    make_contents(meshes[0], split_of[0], cut_of[0], true);
    assert_int_equal(ck_files(&contents, paths, error), EXIT_USER);
    assert_non_null(strstr(error, "inner: ranks share out 2 runs of its axis 1"));
}

TEST_WITH(an_even_layout_has_no_parts, begin, end) {
    make_contents(meshes[1], split_of[1], cut_of[1], false);
    ck_even_layout(&contents, 3, paths);
    assert_int_equal(mesh_ranks(&contents.mesh), 3);
    for (uint32_t i = 0; i < contents.n_tensor; i++) {
        const CkTensor *t = &contents.tensor[i], *next = t + 1;
        LayoutPlace place = ck_place(t);
        int64_t end = layout_end(&contents.vector[t->vector].layout, &place);
        assert_int_equal(ck_elements(t), t->elements);
        assert_true(end <= layout_room(&contents.vector[t->vector].layout, &place));
        if (i + 1 < contents.n_tensor && next->vector == t->vector)
            assert_true(next->offset >= end);
    }
    assert_int_equal(ck_files(&contents, paths, error), 0);
}

RUN_TESTS(scratch_make, scratch_remove)

/* Tables and losses of which ranks share out the vocabulary, in parts that may end in padding, even
 * consist of it: together the ranks compute what one rank does. The first argument may be a device
 * module whose memory is the host's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floats.h"
#include "kernels/launch.h"
#include "test.h"

enum { ROWS = 7, V = 5, D = 3, IGNORED = -100, RANKS = 4 };

static const int32_t ids[ROWS] = {0, 4, 1, 4, 3, 2, 4};
static const int32_t targets[ROWS] = {0, 4, IGNORED, 3, 1, 2, 4};

static int64_t share(int64_t n) { return (V + n - 1) / n; }

/* Dimension dim of V entries, of which each of n ranks has a part. */
static Placement placed_along(int dim, int64_t size) {
    Placement p = {.partial = 0};
    p.cut[dim] = 1;
    p.outer[dim] = 1;
    p.size[dim] = size;
    return p;
}

static void be_rank(int n, int r) {
    launch_mesh = (Mesh){1, {{AXIS_tp, n}}};
    launch_rank = r;
}

/* Rows [first, first + n) of a table, those past its end 0; or columns. */
static Tensor rows_of(Tensor t, int64_t first, int64_t n) {
    Tensor part = tensor(DT_F32, n, D);
    for (int64_t i = 0; i < n * D; i++)
        ((float *)part.at)[i] = first + i / D < V ? ((const float *)t.at)[first * D + i] : 0;
    return part;
}
static Tensor columns_of(Tensor t, int64_t first, int64_t n, float padding) {
    Tensor part = tensor(DT_F32, ROWS, n);
    for (int64_t i = 0; i < ROWS * n; i++) {
        int64_t column = first + i % n;
        ((float *)part.at)[i] = column < V ? ((const float *)t.at)[i / n * V + column] : padding;
    }
    return part;
}

TEST(embeddings_of_all_ranks_add_up) {
    Tensor w = tensor(DT_F32, V, D), want = tensor(DT_F32, ROWS, D), id = ids_of(ROWS, ids);
    be_rank(1, 0);
    run(OP_embedding, (Attrs){0}, 2, LIST(w, id), 1, &want);
    for (int n = 2; n <= RANKS; n++) {
        float sum[ROWS * D] = {0};
        Placement rows = placed_along(0, V), all = {.partial = 1};
        for (int r = 0; r < n; r++) {
            Tensor part = rows_of(w, r * share(n), share(n)), y = tensor(DT_F32, ROWS, D);
            part.placed = &rows;
            y.placed = &all;
            be_rank(n, r);
            run(OP_embedding, (Attrs){0}, 2, LIST(part, id), 1, &y);
            for (int i = 0; i < ROWS * D; i++) sum[i] += ((const float *)y.at)[i];
        }
        assert_memory_equal(sum, want.at, sizeof sum);
    }
}

TEST(each_rank_has_the_gradient_of_its_rows) {
    Tensor dy = tensor(DT_F32, ROWS, D), want = tensor(DT_F32, V, D), id = ids_of(ROWS, ids);
    Tensor acc = tensor(DT_F32, V, D);
    for (int adds = 0; adds < 2; adds++) {
        be_rank(1, 0);
        run(OP_embedding_grad, (Attrs){0}, 2 + adds, LIST(dy, id, acc), 1, &want);
        for (int n = 2; n <= RANKS; n++) {
            Placement rows = placed_along(0, V);
            for (int r = 0; r < n; r++) {
                Tensor dw = tensor(DT_F32, share(n), D),
                       own = rows_of(want, r * share(n), share(n));
                Tensor before = rows_of(acc, r * share(n), share(n));
                dw.placed = before.placed = &rows;
                be_rank(n, r);
                run(OP_embedding_grad, (Attrs){0}, 2 + adds, LIST(dy, id, before), 1, &dw);
                assert_memory_equal(dw.at, own.at, (size_t)(share(n) * D) * sizeof(float));
            }
        }
    }
}

static Tensor parts_tensor(int64_t n) {
    Tensor t = tensor(DT_F32, ROWS, 3 * n);
    t.type.rank = 3;
    t.type.dim[1] = n;
    t.type.dim[2] = 3;
    return t;
}

/* The parts of n ranks; what padding holds in logits must not matter. */
static Tensor parts_of(Tensor logits, Attrs a, int n, float padding) {
    Tensor all = parts_tensor(n);
    Placement columns = placed_along(1, V), own = placed_along(1, n);
    for (int r = 0; r < n; r++) {
        Tensor x = columns_of(logits, r * share(n), share(n), padding), part = parts_tensor(1);
        x.placed = &columns;
        part.placed = &own;
        be_rank(n, r);
        run(OP_cross_entropy_part, a, 2, LIST(x, ids_of(ROWS, targets)), 1, &part);
        for (int i = 0; i < ROWS; i++)
            memcpy((float *)all.at + 3 * (i * n + r), (float *)part.at + 3 * i, 3 * sizeof(float));
    }
    return all;
}

static void assert_near(float got, float want, double times) {
    if (isnan(want) ? !isnan(got) : !(got == want || fabs(got - want) <= times * fabs(want)))
        fail_msg("%.9g is not %.9g", got, want);
}

static void compare_losses(Tensor logits, double z) {
    const Attrs a = {.ignore = IGNORED, .z = z};
    Tensor id = ids_of(ROWS, targets), loss = words(), lse = tensor(DT_F32, ROWS, 0);
    be_rank(1, 0);
    run(OP_cross_entropy, a, 2, LIST(logits, id), 2, LIST(loss, lse));
    for (int n = 2; n <= RANKS; n++) {
        Tensor got = words(), own = tensor(DT_F32, ROWS, 0);
        Tensor parts = parts_of(logits, a, n, n % 2 ? 1e30f : NAN);
        be_rank(1, 0);
        run(OP_cross_entropy_merge, a, 2, LIST(parts, id), 2, LIST(got, own));
        for (int i = 0; i < ROWS; i++)
            assert_near(((float *)own.at)[i], ((float *)lse.at)[i], 0x1p-22);
        assert_int_equal(((int64_t *)got.at)[EXACT_COUNT], ((int64_t *)loss.at)[EXACT_COUNT]);
        assert_near((float)words_value(got), (float)words_value(loss), 0x1p-21);
    }
}

TEST(parts_of_a_loss_make_the_loss) {
    Tensor logits = tensor(DT_F32, ROWS, V);
    compare_losses(logits, 0);
    compare_losses(logits, 0.3);
    float *x = logits.at;
    for (int i = 0; i < V - 1; i++) x[V + i] = -INFINITY; /* all columns of most ranks */
    compare_losses(logits, 0);
    x[3 * V] = NAN;
    compare_losses(logits, 0);
}

TEST(parts_on_one_rank_are_those_of_ranks) {
    const Attrs a = {.ignore = IGNORED};
    Tensor logits = tensor(DT_F32, ROWS, V);
    for (int n = 2; n <= RANKS; n++) {
        Tensor want = parts_of(logits, a, n, NAN), got = parts_tensor(n);
        be_rank(1, 0);
        run(OP_cross_entropy_part, a, 2, LIST(logits, ids_of(ROWS, targets)), 1, &got);
        assert_memory_equal(got.at, want.at, sizeof(float) * ROWS * 3 * (size_t)n);
    }
}

TEST(slopes_of_padding_are_zero) {
    Tensor logits = tensor(DT_F32, ROWS, V), lse = tensor(DT_F32, ROWS, 0),
           id = ids_of(ROWS, targets);
    const Attrs a = {.ignore = IGNORED, .z = 0.1, .exponent = -3};
    Tensor want = tensor(DT_F32, ROWS, V);
    be_rank(1, 0);
    run(OP_cross_entropy, a, 2, LIST(logits, id), 2, LIST(words(), lse));
    run(OP_cross_entropy_grad, a, 3, LIST(logits, id, lse), 1, &want);
    for (int n = 2; n <= RANKS; n++) {
        Placement columns = placed_along(1, V);
        for (int r = 0; r < n; r++) {
            Tensor own = columns_of(want, r * share(n), share(n), 0);
            Tensor x = columns_of(logits, r * share(n), share(n), NAN),
                   dx = tensor(DT_F32, ROWS, share(n));
            x.placed = dx.placed = &columns;
            be_rank(n, r);
            run(OP_cross_entropy_grad, a, 3, LIST(x, id, lse), 1, &dx);
            for (int64_t i = 0; i < ROWS * share(n); i++)
                assert_true(((float *)dx.at)[i] == ((float *)own.at)[i]);
        }
    }
}

TEST(ids_of_other_ranks_are_in_range) {
    char error[ERROR_BYTES];
    Tensor w = tensor(DT_F32, share(2), D), y = tensor(DT_F32, 1, D);
    Placement rows = placed_along(0, V), all = {.partial = 1};
    w.placed = &rows;
    y.placed = &all;
    be_rank(2, 0);
    assert_true(
        try_run(OP_embedding, (Attrs){0}, 2, LIST(w, ids_of(1, (int32_t[]){4})), 1, &y, error));
    assert_false(
        try_run(OP_embedding, (Attrs){0}, 2, LIST(w, ids_of(1, (int32_t[]){5})), 1, &y, error));
    assert_non_null(strstr(error, "5 at position 0 is out of range: it must be from 0 to 4"));
}

static int open_device(void **state) {
    (void)state;
    return launch_open(NULL, NULL) ? 0 : 1;
}
static int close_device(void **state) {
    (void)state;
    launch_close();
    return 0;
}

int main(int argc, char **argv) {
    launch_module = argc > 1 ? argv[1] : NULL;
    return run_all(open_device, close_device);
}

/* Products of bf16 matrices by oneDNN's matmul primitive, which uses AMX or AVX512-BF16.
 *
 * A primitive is made once for each shape, in the rehearsal before the first step (or when a shape
 * is first met, in tests), and kept with the memory objects of each thread. It is made for one
 * thread, runs on the thread that calls it, and gets scratch memory of ours: so its bits depend on
 * the shape, the library and the processor's instructions, and it plans for no team.
 *
 * dnnl_get_effective_cpu_isa heeds ONEDNN_MAX_CPU_ISA, which tests use. The interface of oneDNN 3
 * differs; with it, as without oneDNN, bf16 operands are widened (tiles.c).
 */
#include "bf16.h"

#include <stddef.h>

#ifdef HAVE_ONEDNN
#include <dnnl.h>
#endif

#if defined(HAVE_ONEDNN) && DNNL_VERSION_MAJOR == 2

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SRC, WEIGHTS, DST, SCRATCHPAD, ARGUMENTS };
static const int argument_kind[ARGUMENTS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                             DNNL_ARG_SCRATCHPAD};

struct Bf16Product {
    Bf16Shape shape;
    Bf16Product *next;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    size_t pad_bytes;
    dnnl_exec_arg_t argument[][ARGUMENTS]; /* by thread */
};

struct Bf16 {
    pthread_mutex_t lock; /* of `first` and `pad`: a test launches from one thread a stream */
    Bf16Product *first;
    dnnl_engine_t engine;
    int threads;
    size_t pad_bytes; /* of each thread: the most that a primitive needs */
    char *pad;
    dnnl_stream_t stream[]; /* by thread */
};

bool have_bf16(void) {
    unsigned isa = dnnl_get_effective_cpu_isa();
    return (isa & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
}

Bf16 *bf16_open(int threads) {
    Bf16 *b = calloc(1, sizeof *b + (size_t)threads * sizeof *b->stream);
    if (!b) return NULL;
    pthread_mutex_init(&b->lock, NULL);
    b->threads = threads;
    bool good = dnnl_engine_create(&b->engine, dnnl_cpu, 0) == dnnl_success;
    for (int t = 0; t < threads && good; t++)
        good =
            dnnl_stream_create(&b->stream[t], b->engine, dnnl_stream_default_flags) == dnnl_success;
    if (good) return b;
    bf16_close(b);
    return NULL;
}

static void release_product(Bf16 *b, Bf16Product *p) {
    for (int t = 0; t < b->threads; t++)
        for (int i = 0; i < ARGUMENTS; i++)
            if (p->argument[t][i].memory) dnnl_memory_destroy(p->argument[t][i].memory);
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    if (p->description) dnnl_primitive_desc_destroy(p->description);
    free(p);
}

void bf16_close(Bf16 *b) {
    if (!b) return;
    while (b->first) {
        Bf16Product *p = b->first;
        b->first = p->next;
        release_product(b, p);
    }
    for (int t = 0; t < b->threads; t++)
        if (b->stream[t]) dnnl_stream_destroy(b->stream[t]);
    if (b->engine) dnnl_engine_destroy(b->engine);
    pthread_mutex_destroy(&b->lock);
    free(b->pad);
    free(b);
}

/* ---- a primitive */

static bool describe_matrix(dnnl_memory_desc_t *d, dnnl_data_type_t type, int64_t rows,
                            int64_t columns, int64_t row, int64_t col) {
    dnnl_dims_t size = {rows, columns}, stride = {row, col};
    return dnnl_memory_desc_init_by_strides(d, 2, size, type, stride) == dnnl_success;
}

/* The scratch memory is the caller's; sums begin with what dst holds if they accumulate. */
static bool set_attributes(dnnl_primitive_attr_t attr, bool accumulate) {
    if (dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) != dnnl_success)
        return false;
    if (!accumulate) return true;
    dnnl_post_ops_t ops;
    if (dnnl_post_ops_create(&ops) != dnnl_success) return false;
    bool good = dnnl_post_ops_append_sum(ops, 1.0f) == dnnl_success &&
                dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
    dnnl_post_ops_destroy(ops);
    return good;
}

static bool describe_right(dnnl_memory_desc_t *d, const Bf16Shape *s) {
    dnnl_dims_t size = {s->k, s->n};
    if (!s->packed) return describe_matrix(d, dnnl_bf16, s->k, s->n, s->b_row, s->b_col);
    return dnnl_memory_desc_init_by_tag(d, 2, size, dnnl_bf16, dnnl_BA16a64b2a) == dnnl_success;
}

static bool describe_matrices(const Bf16 *b, Bf16Product *p, dnnl_memory_desc_t d[ARGUMENTS]) {
    const Bf16Shape *s = &p->shape;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_attr_t attr;
    if (!describe_matrix(&d[SRC], dnnl_bf16, s->m, s->k, s->a_row, s->a_col) ||
        !describe_right(&d[WEIGHTS], s) ||
        !describe_matrix(&d[DST], dnnl_f32, s->m, s->n, s->n, 1) ||
        dnnl_matmul_desc_init(&matmul, &d[SRC], &d[WEIGHTS], NULL, &d[DST]) != dnnl_success ||
        dnnl_primitive_attr_create(&attr) != dnnl_success)
        return false;
    bool good =
        set_attributes(attr, s->accumulate) &&
        dnnl_primitive_desc_create(&p->description, &matmul, attr, b->engine, NULL) == dnnl_success;
    dnnl_primitive_attr_destroy(attr);
    if (!good) return false;
    const dnnl_memory_desc_t *pad =
        dnnl_primitive_desc_query_md(p->description, dnnl_query_scratchpad_md, 0);
    p->pad_bytes = dnnl_memory_desc_get_size(pad);
    d[SCRATCHPAD] = *pad;
    return dnnl_primitive_create(&p->primitive, p->description) == dnnl_success;
}

static bool create_primitive(const Bf16 *b, Bf16Product *p) {
    dnnl_memory_desc_t d[ARGUMENTS];
    if (!describe_matrices(b, p, d)) return false;
    for (int t = 0; t < b->threads; t++)
        for (int i = 0; i < ARGUMENTS; i++) {
            p->argument[t][i].arg = argument_kind[i];
            if (dnnl_memory_create(&p->argument[t][i].memory, &d[i], b->engine, DNNL_MEMORY_NONE) !=
                dnnl_success)
                return false;
        }
    return true;
}

/* Room for the largest scratch memory. */
static bool grow_scratch(Bf16 *b, size_t bytes) {
    if (bytes <= b->pad_bytes) return true;
    size_t rounded = (bytes + 4095) & ~(size_t)4095;
    free(b->pad);
    b->pad = aligned_alloc(4096, rounded * (size_t)b->threads);
    b->pad_bytes = b->pad ? rounded : 0;
    return b->pad != NULL;
}

/* The library plans for as many threads as OpenMP would give to a parallel region. */
static Bf16Product *make_product(Bf16 *b, const Bf16Shape *shape) {
    Bf16Product *p = calloc(1, sizeof *p + (size_t)b->threads * sizeof *p->argument);
    if (!p) return NULL;
    p->shape = *shape;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    bool good = create_primitive(b, p) && grow_scratch(b, p->pad_bytes);
    omp_set_num_threads(threads);
    if (!good) {
        release_product(b, p);
        return NULL;
    }
    p->next = b->first;
    b->first = p;
    return p;
}

const Bf16Product *bf16_product(Bf16 *b, const Bf16Shape *shape) {
    pthread_mutex_lock(&b->lock);
    Bf16Product *p = b->first;
    while (p && memcmp(&p->shape, shape, sizeof *shape) != 0) p = p->next;
    if (!p) p = make_product(b, shape);
    pthread_mutex_unlock(&b->lock);
    return p;
}

bool bf16_multiply(Bf16 *b, const Bf16Product *p, int thread, const void *x, const void *y,
                   float *c) {
    const dnnl_exec_arg_t *argument = p->argument[thread];
    void *at[ARGUMENTS] = {(void *)(uintptr_t)x, (void *)(uintptr_t)y, c,
                           b->pad ? b->pad + (size_t)thread * b->pad_bytes : NULL};
    for (int i = 0; i < ARGUMENTS; i++)
        if (dnnl_memory_set_data_handle(argument[i].memory, at[i]) != dnnl_success) return false;
    return dnnl_primitive_execute(p->primitive, b->stream[thread], ARGUMENTS, argument) ==
               dnnl_success &&
           dnnl_stream_wait(b->stream[thread]) == dnnl_success;
}

#else

bool have_bf16(void) { return false; }
Bf16 *bf16_open(int threads) {
    (void)threads;
    return NULL;
}
void bf16_close(Bf16 *b) { (void)b; }
const Bf16Product *bf16_product(Bf16 *b, const Bf16Shape *shape) {
    (void)b, (void)shape;
    return NULL;
}
bool bf16_multiply(Bf16 *b, const Bf16Product *p, int thread, const void *x, const void *y,
                   float *c) {
    (void)b, (void)p, (void)thread, (void)x, (void)y, (void)c;
    return false;
}

#endif

/* Matrix products through oneDNN: its matmul primitive or dnnl_sgemm, by layout.
 *
 * Which is faster depends on which operand lies along k (measured, see tests/bench/kernels.c): the
 * primitive for A B^T, sgemm for A B and A^T B. A primitive is made when its shape is first seen
 * and kept; with it, descriptors of its operands whose addresses are set at each use, so later
 * calls allocate nothing of ours. Its scratchpad is the larger of the caller's memory and the
 * device's packing buffers; a primitive that wants more is left for sgemm. sgemm allocates inside
 * the library.
 *
 * Without oneDNN (HAVE_ONEDNN not set) the device uses product.c.
 */
#include "kernel.h"

#ifdef HAVE_ONEDNN

#include <dnnl.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX_PRIMITIVES = 256 };

typedef struct Entry {
    int64_t m, n, k;
    bool a_along, b_along, accumulate, usable; /* operand's stride along k is 1 */
    uint64_t scratch_bytes;
    dnnl_primitive_t primitive;
    dnnl_memory_t a, b, c, scratch;
} Entry;

struct ProductCache {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    pthread_mutex_t lock; /* operands' addresses belong to one call at a time */
    int n;
    Entry entries[MAX_PRIMITIVES];
};

bool have_onednn(void) { return true; }

ProductCache *product_cache_new(void) {
    ProductCache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    if (dnnl_engine_create(&c->engine, dnnl_cpu, 0) == dnnl_success &&
        dnnl_stream_create(&c->stream, c->engine, dnnl_stream_default_flags) == dnnl_success)
        return c;
    product_cache_free(c);
    return NULL;
}

static void entry_free(Entry *e) {
    if (e->primitive) dnnl_primitive_destroy(e->primitive);
    dnnl_memory_t all[] = {e->a, e->b, e->c, e->scratch};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]) dnnl_memory_destroy(all[i]);
}

void product_cache_free(ProductCache *c) {
    if (!c) return;
    for (int i = 0; i < c->n; i++) entry_free(&c->entries[i]);
    if (c->stream) dnnl_stream_destroy(c->stream);
    if (c->engine) dnnl_engine_destroy(c->engine);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- the two generations of the library's interface */

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t Description;
typedef const_dnnl_memory_desc_t DescriptionUse;
static bool describe(Description *d, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    dnnl_dims_t dims = {rows, columns}, strides = {row, column};
    return dnnl_memory_desc_create_with_strides(d, 2, dims, dnnl_f32, strides) == dnnl_success;
}
static void describe_free(Description *d) { dnnl_memory_desc_destroy(*d); }
static DescriptionUse description_use(const Description *d) { return *d; }
static uint64_t description_bytes(DescriptionUse d) { return dnnl_memory_desc_get_size(d); }
static bool matmul_new(dnnl_primitive_desc_t *out, dnnl_engine_t engine, Description *a,
                       Description *b, Description *c, dnnl_primitive_attr_t attr) {
    return dnnl_matmul_primitive_desc_create(out, engine, *a, *b, NULL, *c, attr) == dnnl_success;
}
static bool append_sum(dnnl_post_ops_t ops) {
    return dnnl_post_ops_append_sum(ops, 1.0f, 0, dnnl_data_type_undef) == dnnl_success;
}
#else
typedef dnnl_memory_desc_t Description;
typedef const dnnl_memory_desc_t *DescriptionUse;
static bool describe(Description *d, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    dnnl_dims_t dims = {rows, columns}, strides = {row, column};
    return dnnl_memory_desc_init_by_strides(d, 2, dims, dnnl_f32, strides) == dnnl_success;
}
static void describe_free(Description *d) { (void)d; }
static DescriptionUse description_use(const Description *d) { return d; }
static uint64_t description_bytes(DescriptionUse d) { return dnnl_memory_desc_get_size(d); }
static bool matmul_new(dnnl_primitive_desc_t *out, dnnl_engine_t engine, Description *a,
                       Description *b, Description *c, dnnl_primitive_attr_t attr) {
    dnnl_matmul_desc_t d;
    return dnnl_matmul_desc_init(&d, a, b, NULL, c) == dnnl_success &&
           dnnl_primitive_desc_create(out, &d, attr, engine, NULL) == dnnl_success;
}
static bool append_sum(dnnl_post_ops_t ops) {
    return dnnl_post_ops_append_sum(ops, 1.0f) == dnnl_success;
}
#endif

/* ---- primitives */

static dnnl_primitive_attr_t attributes(bool accumulate) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    bool good =
        dnnl_primitive_attr_create(&attr) == dnnl_success &&
        dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success &&
        dnnl_post_ops_create(&ops) == dnnl_success;
    if (good && accumulate) good = append_sum(ops);
    if (good) good = dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
    if (ops) dnnl_post_ops_destroy(ops);
    if (good) return attr;
    if (attr) dnnl_primitive_attr_destroy(attr);
    return NULL;
}

static bool memory_new(dnnl_memory_t *m, DescriptionUse d, dnnl_engine_t engine) {
    return dnnl_memory_create(m, d, engine, DNNL_MEMORY_NONE) == dnnl_success;
}

/* Fills an entry whose key is set; on failure it stays without use. */
static void entry_make(ProductCache *cache, Entry *e, const Product *p) {
    Description a, b, c;
    if (!describe(&a, p->m, p->k, p->a_row, p->a_col) ||
        !describe(&b, p->k, p->n, p->b_row, p->b_col) || !describe(&c, p->m, p->n, p->c_row, 1))
        return;
    dnnl_primitive_attr_t attr = attributes(e->accumulate);
    dnnl_primitive_desc_t made = NULL;
    if (attr && matmul_new(&made, cache->engine, &a, &b, &c, attr)) {
        DescriptionUse scratch = dnnl_primitive_desc_query_md(made, dnnl_query_scratchpad_md, 0);
        e->scratch_bytes = scratch ? description_bytes(scratch) : 0;
        e->usable = memory_new(&e->a, description_use(&a), cache->engine) &&
                    memory_new(&e->b, description_use(&b), cache->engine) &&
                    memory_new(&e->c, description_use(&c), cache->engine) &&
                    (!scratch || memory_new(&e->scratch, scratch, cache->engine)) &&
                    dnnl_primitive_create(&e->primitive, made) == dnnl_success;
        dnnl_primitive_desc_destroy(made);
    }
    if (attr) dnnl_primitive_attr_destroy(attr);
    describe_free(&a);
    describe_free(&b);
    describe_free(&c);
}

/* NULL when no primitive is to be had. */
static Entry *entry_find(ProductCache *cache, const Product *p) {
    bool a_along = p->a_col == 1, b_along = p->b_row == 1;
    for (int i = 0; i < cache->n; i++) {
        Entry *e = &cache->entries[i];
        if (e->m == p->m && e->n == p->n && e->k == p->k && e->a_along == a_along &&
            e->b_along == b_along && e->accumulate == p->accumulate)
            return e;
    }
    if (cache->n == MAX_PRIMITIVES) return NULL;
    Entry *e = &cache->entries[cache->n++];
    *e = (Entry){.m = p->m, .n = p->n, .k = p->k};
    e->a_along = a_along;
    e->b_along = b_along;
    e->accumulate = p->accumulate;
    entry_make(cache, e, p);
    return e;
}

static bool run_primitive(ProductCache *cache, Entry *e, const Product *p, void *scratch) {
    if (dnnl_memory_set_data_handle(e->a, (void *)(uintptr_t)p->a) != dnnl_success ||
        dnnl_memory_set_data_handle(e->b, (void *)(uintptr_t)p->b) != dnnl_success ||
        dnnl_memory_set_data_handle(e->c, p->c) != dnnl_success)
        return false;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, e->a},
                              {DNNL_ARG_WEIGHTS, e->b},
                              {DNNL_ARG_DST, e->c},
                              {DNNL_ARG_SCRATCHPAD, e->scratch}};
    if (e->scratch && dnnl_memory_set_data_handle(e->scratch, scratch) != dnnl_success)
        return false;
    return dnnl_primitive_execute(e->primitive, cache->stream, e->scratch ? 4 : 3, args) ==
               dnnl_success &&
           dnnl_stream_wait(cache->stream) == dnnl_success;
}

/* The primitive reads one dense matrix each; strides of views do not occur in plans. */
bool product_onednn(DeviceContext *cpu, const Product *p, void *scratch, uint64_t scratch_bytes) {
    if (p->m == 0 || p->n == 0 || p->k == 0) return false;
    bool a_along = p->a_col == 1, b_along = p->b_row == 1;
    if (b_along && a_along) {
        uint64_t pack_bytes = (uint64_t)cpu->threads * PACK_FLOATS * sizeof(float);
        if (scratch_bytes < pack_bytes) {
            scratch = cpu->pack;
            scratch_bytes = pack_bytes;
        }
        pthread_mutex_lock(&cpu->products->lock);
        Entry *e = entry_find(cpu->products, p);
        bool done = e && e->usable && e->scratch_bytes <= scratch_bytes &&
                    run_primitive(cpu->products, e, p, scratch);
        pthread_mutex_unlock(&cpu->products->lock);
        if (done) return true;
    }
    return dnnl_sgemm(a_along ? 'N' : 'T', b_along ? 'T' : 'N', p->m, p->n, p->k, 1.0f, p->a,
                      a_along ? p->a_row : p->a_col, p->b, b_along ? p->b_col : p->b_row,
                      p->accumulate ? 1.0f : 0.0f, p->c, p->c_row) == dnnl_success;
}

#else

bool have_onednn(void) { return false; }
ProductCache *product_cache_new(void) { return NULL; }
void product_cache_free(ProductCache *c) { (void)c; }
bool product_onednn(DeviceContext *cpu, const Product *p, void *scratch, uint64_t scratch_bytes) {
    (void)cpu;
    (void)p;
    (void)scratch;
    (void)scratch_bytes;
    return false;
}

#endif

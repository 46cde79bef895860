/* Element types of files, and their conversion to the types of the arena. Files are little-endian
 * and guarantee no alignment, so elements are read with memcpy. */
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "floats.h"
#include "tensors.h"

static const struct {
    uint8_t bytes;
    bool real;
} element[FT_COUNT] = {
    [FT_F64] = {8, true},  [FT_F32] = {4, true},  [FT_F16] = {2, true},  [FT_BF16] = {2, true},
    [FT_I64] = {8, false}, [FT_I32] = {4, false}, [FT_I16] = {2, false}, [FT_I8] = {1, false},
    [FT_U64] = {8, false}, [FT_U32] = {4, false}, [FT_U16] = {2, false}, [FT_U8] = {1, false},
    [FT_BOOL] = {1, false}};

const char *const file_type_name[FT_COUNT] = {
    [FT_F64] = "F64", [FT_F32] = "F32", [FT_F16] = "F16",  [FT_BF16] = "BF16", [FT_I64] = "I64",
    [FT_I32] = "I32", [FT_I16] = "I16", [FT_I8] = "I8",    [FT_U64] = "U64",   [FT_U32] = "U32",
    [FT_U16] = "U16", [FT_U8] = "U8",   [FT_BOOL] = "BOOL"};

uint32_t file_type_bytes(FileType t) { return element[t].bytes; }
bool file_type_float(FileType t) { return element[t].real; }

FileType file_type_of(int dtype) {
    switch (dtype) {
    case DT_F32: return FT_F32;
    case DT_BF16: return FT_BF16;
    case DT_F16: return FT_F16;
    case DT_F64: return FT_F64;
    case DT_I32: return FT_I32;
    case DT_I64: return FT_I64;
    case DT_U8: return FT_U8;
    default: return FT_COUNT;
    }
}

int64_t load_integer(const void *from, FileType t) {
    uint64_t u = 0;
    memcpy(&u, from, element[t].bytes);
    switch (t) {
    case FT_I32: return (int32_t)u;
    case FT_I16: return (int16_t)u;
    case FT_I8: return (int8_t)u;
    case FT_BOOL: return u != 0;
    default: return (int64_t)u; /* u64 above 2^63 becomes negative: outside every range */
    }
}

double load_real(const void *from, FileType t) {
    uint16_t half;
    float single;
    double real;
    switch (t) {
    case FT_F64: memcpy(&real, from, sizeof real); return real;
    case FT_F32: memcpy(&single, from, sizeof single); return single;
    case FT_F16: memcpy(&half, from, sizeof half); return f16_to_f32(half);
    case FT_BF16: memcpy(&half, from, sizeof half); return bf16_to_f32(half);
    default: return (double)load_integer(from, t);
    }
}

/* The usual types of data files, each with a loop of its own. The compiler vectorizes a loop with a
 * constant number of iterations: BLOCK elements at a time. */
enum { BLOCK = 64 };
#define LOAD(ctype, value, blocks)                                                                 \
    for (; n >= (blocks); n -= (blocks), at += (blocks) * sizeof(ctype), to += (blocks)) {         \
        ctype x[blocks];                                                                           \
        memcpy(x, at, sizeof x);                                                                   \
        for (int i = 0; i < (blocks); i++) to[i] = value;                                          \
    }
#define STORE(ctype, value, blocks)                                                                \
    for (; n >= (blocks); n -= (blocks), at += (blocks) * sizeof(ctype), from += (blocks)) {       \
        ctype x[blocks];                                                                           \
        for (int i = 0; i < (blocks); i++) x[i] = value;                                           \
        memcpy(at, x, sizeof x);                                                                   \
    }
#define STORES(type, ctype, value)                                                                 \
    case type:                                                                                     \
        STORE(ctype, value, BLOCK) STORE(ctype, value, 1) return
#define LOADS(type, ctype, value)                                                                  \
    case type: LOAD(ctype, value, BLOCK) LOAD(ctype, value, 1) return

/* ---- f16, eight at a time, with the same bits as f16_to_f32 and f32_to_f16; returns the number
 * converted */

#ifdef __x86_64__
__attribute__((target("avx2,f16c"))) static int64_t load_eights(const char *at, int64_t n,
                                                                float *to) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + i * 2));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(x));
    }
    return i;
}
__attribute__((target("avx2,f16c"))) static int64_t store_eights(char *at, const float *from,
                                                                 int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i x = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(at + i * 2), x);
    }
    return i;
}
/* Every processor with AVX2 has these instructions. */
static bool has_eights(void) { return __builtin_cpu_supports("avx2"); }
#else
static bool has_eights(void) { return false; }
static int64_t load_eights(const char *at, int64_t n, float *to) {
    (void)at, (void)n, (void)to;
    return 0;
}
static int64_t store_eights(char *at, const float *from, int64_t n) {
    (void)at, (void)from, (void)n;
    return 0;
}
#endif

static void load_f16(const char *at, int64_t n, float *to) {
    int64_t done = has_eights() ? load_eights(at, n, to) : 0;
    at += done * 2, to += done, n -= done;
    LOAD(uint16_t, f16_to_f32(x[i]), BLOCK)
    LOAD(uint16_t, f16_to_f32(x[i]), 1)
}
static void store_f16(char *at, const float *from, int64_t n) {
    int64_t done = has_eights() ? store_eights(at, from, n) : 0;
    at += done * 2, from += done, n -= done;
    STORE(uint16_t, f32_to_f16(from[i]), BLOCK)
    STORE(uint16_t, f32_to_f16(from[i]), 1)
}

/* ---- */

void load_floats(const void *from, FileType t, int64_t n, float *to) {
    const char *at = from;
    switch (t) {
    case FT_F32:
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
        LOADS(FT_U8, uint8_t, (float)x[i]);
        LOADS(FT_I8, int8_t, (float)x[i]);
        LOADS(FT_I16, int16_t, (float)x[i]);
        LOADS(FT_U16, uint16_t, (float)x[i]);
        LOADS(FT_BF16, uint16_t, bf16_to_f32(x[i]));
    case FT_F16:
        load_f16(at, n, to);
        return;
        LOADS(FT_F64, double, (float)x[i]);
    default:
        for (int64_t i = 0; i < n; i++) to[i] = (float)load_real(at + i * element[t].bytes, t);
    }
}

bool load_words(const void *from, FileType t, int64_t n, int32_t *to) {
    const char *at = from;
    switch (t) {
        LOADS(FT_U8, uint8_t, x[i]) true;
        LOADS(FT_U16, uint16_t, x[i]) true;
        LOADS(FT_I32, int32_t, x[i]) true;
    default: return false;
    }
}

void load_integers(const void *from, FileType t, int64_t n, int64_t *to) {
    const char *at = from;
    switch (t) {
        LOADS(FT_U8, uint8_t, x[i]);
        LOADS(FT_U16, uint16_t, x[i]);
        LOADS(FT_U32, uint32_t, x[i]);
        LOADS(FT_I32, int32_t, x[i]);
        LOADS(FT_I64, int64_t, x[i]);
    default:
        for (int64_t i = 0; i < n; i++) to[i] = load_integer(at + i * element[t].bytes, t);
    }
}

void store_elements(void *to, FileType type, const float *from, int64_t n) {
    char *at = to;
    switch (type) {
    case FT_F32:
        memcpy(to, from, (size_t)n * sizeof *from);
        return;
        STORES(FT_BF16, uint16_t, f32_to_bf16(from[i]));
    case FT_F16:
        store_f16(at, from, n);
        return;
        STORES(FT_F64, double, from[i]);
    default: return;
    }
}

void store_floats(void *to, int dtype, const float *from, int64_t n) {
    store_elements(to, file_type_of(dtype), from, n);
}

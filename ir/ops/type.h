/* Types and attributes: what a kernel needs to know about a plan's values. The table of ops is not
 * included, so that a new op does not recompile every kernel.
 *
 * All structs are plain data of fixed layout, little-endian, so that a plan can contain them
 * unchanged. The attributes are those of attrs.def, the enums those of words.h.
 */
#ifndef FSDPC_TYPE_H
#define FSDPC_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "words.h"

enum { MAX_RANK = 6, MAX_STREAMS = 8, NO_INDEX = -1 };

/* An address in a plan also identifies the memory: addresses in host memory, which may be a file's,
 * begin here. Each memory is an arena of less than 2^50 bytes, so no range spans both. */
#define HOST_BASE ((uint64_t)1 << 51)
static inline bool address_is_host(uint64_t address) { return address >= HOST_BASE; }
static inline uint64_t address_offset(uint64_t address) {
    return address_is_host(address) ? address - HOST_BASE : address;
}
/* The most bytes, elements, samples or steps in a graph or a plan. */
#define MOST_COUNT ((int64_t)1 << 50)
/* The largest loss scale. */
#define MOST_LOSS_SCALE 0x1p60
/* The most elements of a head that rope can rotate. */
#define MOST_TURNED 512
/* The most rows of relative_bias: buckets of both sides together. */
#define MOST_BUCKETS 512

/* The type of a value. dim[0] is the slowest axis; layouts are row-major. rank 0 is a scalar with
 * one element. Layouts are dense except for rows with a pitch: row r, a run along the last axis,
 * begins at element r * pitch. The gaps between rows are never read or written. Only operands and
 * results whose signature allows it may have a pitch. */
typedef struct Type {
    uint8_t dtype;
    uint8_t rank;
    uint8_t pad[2];
    uint32_t pitch; /* elements from row to row, more than the last axis; 0 = dense */
    int64_t dim[MAX_RANK];
} Type;

static inline uint32_t dtype_bytes(int dtype) {
    switch ((DType)dtype) {
    case DT_NONE:
    case DT_TOKEN:
    case DT_COUNT: break;
    case DT_F32:
    case DT_I32: return 4;
    case DT_F64:
    case DT_I64: return 8;
    case DT_BF16:
    case DT_F16: return 2;
    case DT_F8E4M3:
    case DT_I8:
    case DT_U8: return 1;
    }
    return 0;
}
static inline int64_t type_elements(const Type *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dim[i];
    return n;
}
static inline bool dtype_is_float(int dtype) {
    return dtype == DT_F32 || dtype == DT_BF16 || dtype == DT_F16;
}
/* Dtypes in which parameters are only gathered; nothing computes with them. */
static inline bool dtype_is_quantized(int dtype) { return dtype == DT_F8E4M3 || dtype == DT_I8; }
/* Dtypes in which parameters may be gathered. */
static inline bool dtype_is_sent(int dtype) {
    return dtype_is_float(dtype) || dtype_is_quantized(dtype);
}
/* How many of a parameter's n elements, in its own order, are quantized by one largest element: for
 * f8e4m3 all of them, for i8 a block, about as many as in DeepSpeed's ZeRO++ but independent of
 * where the ranks cut the parameter. And how many such blocks it has; the last one may be
 * shorter. */
enum { QUANTIZED_BLOCK = 4096 };
static inline int64_t quantized_block(int dtype, int64_t n) {
    return dtype == DT_I8 && n > QUANTIZED_BLOCK ? QUANTIZED_BLOCK : n;
}
static inline int64_t quantized_blocks(int dtype, int64_t n) {
    int64_t block = quantized_block(dtype, n);
    return (n + block - 1) / block;
}
/* The dtype with more bytes; a, if they have the same number. */
static inline int dtype_wider(int a, int b) { return dtype_bytes(b) > dtype_bytes(a) ? b : a; }
/* Floats with 16 bits: stored in this form, computed in f32. */
static inline bool dtype_is_half(int dtype) { return dtype == DT_BF16 || dtype == DT_F16; }
static inline bool type_is_float(const Type *t) { return dtype_is_float(t->dtype); }
static inline int64_t last_dim(const Type *t) { return t->rank ? t->dim[t->rank - 1] : 1; }
/* Elements from one row of the last axis to the next. */
static inline int64_t type_pitch(const Type *t) {
    return t->pitch ? (int64_t)t->pitch : t->rank ? t->dim[t->rank - 1] : 1;
}
/* Bytes in memory, including the gaps between rows. */
static inline int64_t type_bytes(const Type *t) {
    int64_t n = type_elements(t);
    if (t->pitch && t->rank) n = n / t->dim[t->rank - 1] * (int64_t)t->pitch;
    return n * dtype_bytes(t->dtype);
}

/* Exact accumulators. A sum that must not depend on how its terms are cut into shards, ranks or
 * blocks is kept in integers: bin k counts multiples of 2^(28k - 300), so that the bins together
 * hold any sum of up to 2^34 squares of f32 numbers without rounding. Type i64[EXACT_WORDS]. Adding
 * two accumulators word by word adds the sums; an all-reduce of them is exact in any order. For
 * sums of cubes, the f64 nearest to the cube of each f32 number is added, so this sum is exact,
 * too. There, numbers below 2^CUBE_LOWEST count as 0, and those from 2^CUBE_END on as not finite:
 * the bits of their cubes do not fit into the bins. */
enum {
    EXACT_BINS = 20,
    EXACT_BIN_BITS = 28,
    EXACT_LOWEST_EXPONENT = -300,
    EXACT_COUNT = 20,     /* number of terms (targets, or correct answers' denominators) */
    EXACT_NONFINITE = 21, /* terms that were inf or nan: not in the bins */
    EXACT_WORDS = 24,
    CUBE_LOWEST = -82,
    CUBE_END = 85
};

/* The axes that attribute `order` names, from 0: digit i of n, the first one leading. false: they
 * are not a permutation of n axes. */
static inline bool axes_of_order(int64_t order, int n, int *axis) {
    unsigned seen = 0;
    for (int i = n; i-- > 0; order /= 10) {
        axis[i] = (int)(order % 10) - 1;
        if (axis[i] < 0 || axis[i] >= n || seen >> axis[i] & 1) return false;
        seen |= 1u << axis[i];
    }
    return n > 0 && order == 0;
}

enum { MOST_HEAD = 256 }; /* width of a head of attention: tiles of heads fit in caches */

/* Statistics of routing, i64[balance_words(E)]: sums over tokens, which can be added over ranks.
 * For each of E experts the number of times it was chosen, then for each the sum of its probability
 * in units of 2^-BALANCE_BITS, then tokens and targets. */
enum { MOST_EXPERTS = 512, BALANCE_BITS = 32 };
static inline int64_t balance_words(int64_t experts) { return 2 * experts + 2; }

/* Statistics of a mean over the batch, i64[AVERAGE_WORDS]: an exact accumulator of its elements,
 * then targets; of a weighted mean, i64[WEIGHTED_WORDS], an exact accumulator of the weights too.
 * Where targets and weights are those of all micro-batches of a step, CALLS_WORDS more: the number
 * of ranks, then that of micro-batches on all of them.
 */
enum {
    AVERAGE_TARGETS = EXACT_WORDS,
    AVERAGE_WORDS = EXACT_WORDS + 1,
    WEIGHTED_WORDS = AVERAGE_WORDS + EXACT_WORDS,
    CALLS_WORDS = 2
};
static inline bool are_step_words(int64_t words) {
    return words == AVERAGE_WORDS + CALLS_WORDS || words == WEIGHTED_WORDS + CALLS_WORDS;
}
static inline bool are_weighted_words(int64_t words) {
    return words == WEIGHTED_WORDS || words == WEIGHTED_WORDS + CALLS_WORDS;
}
static inline bool are_average_words(int64_t words) {
    return words == AVERAGE_WORDS || words == WEIGHTED_WORDS || are_step_words(words);
}
static inline int64_t average_words(bool weighted, int64_t calls) {
    return (weighted ? WEIGHTED_WORDS : AVERAGE_WORDS) + (calls ? CALLS_WORDS : 0);
}
/* Those of routing are an even number of words, those of means an odd one. */
static inline bool are_loss_statistics(int64_t words) {
    return are_average_words(words) || (words % 2 == 0 && words >= balance_words(1));
}

/* How Adafactor treats a parameter: as matrices[rows, columns], one after the other; with fewer
 * than two axes as one matrix without columns whose rows have one element. */
typedef struct FactorShape {
    int64_t matrices, rows, columns;
} FactorShape;

static inline FactorShape factor_shape(const Type *t) {
    if (t->rank < 2) return (FactorShape){1, t->rank ? t->dim[0] : 1, 0};
    FactorShape s = {1, t->dim[t->rank - 2], t->dim[t->rank - 1]};
    for (int i = 0; i < t->rank - 2; i++) s.matrices *= t->dim[i];
    return s;
}

/* Its second moments: of each row, of each column, and, if there are columns, the mean over the
 * rows of each matrix. */
static inline int64_t factor_numbers(const Type *t) {
    FactorShape s = factor_shape(t);
    return s.matrices * (s.rows + s.columns + (s.columns != 0));
}

/* The words of its sums: two for each row and column, plus an exact sum. */
static inline int64_t factor_words(const Type *t) {
    FactorShape s = factor_shape(t);
    return 2 * s.matrices * (s.rows + s.columns) + EXACT_WORDS;
}

/* Words, of two f32 numbers each, that Muon needs to orthogonalize a matrix [R, C]: its exact norm,
 * two copies of it and two products of it with itself, each aligned to 256 bytes.
 */
enum { MOST_NEWTON_SCHULZ = 99 };
/* p of the norm of gradients. It is computed from an exact accumulator of the p-th powers; for
 * infinite p from the bits of the largest |x|, which compare as integers in the same order as the
 * numbers, with nans above all, so that an all-reduce finds the largest of all ranks. */
enum { NORM_INF = -1, MOST_NORM = 3 };
static inline int norm_dtype(int64_t p) { return p == NORM_INF ? DT_I32 : DT_I64; }
static inline int64_t norm_length(int64_t p) { return p == NORM_INF ? 1 : EXACT_WORDS; }
static inline bool type_is_norm(const Type *t, int64_t p) {
    return t->dtype == norm_dtype(p) && t->rank == 1 && t->dim[0] == norm_length(p);
}
static inline int64_t muon_part(int64_t numbers) { return (numbers + 63) / 64 * 64; }
/* The part of u that a matrix takes: the matrices of a group follow each other there. */
static inline int64_t muon_room(const Type *t) { return muon_part(type_elements(t)); }
static inline int64_t muon_work(const Type *t) {
    int64_t rows = t->dim[0], columns = t->dim[1], least = rows < columns ? rows : columns;
    int64_t copies = 2 * muon_part(rows * columns), products = 2 * muon_part(least * least);
    return (muon_part(2 * EXACT_WORDS) + copies + products) / 2;
}

/* The state `step`, f64[STEP_SLOTS]: everything that changes from call to call; the host writes it
 * before each program call. Integers up to 2^53 are exact in it. */
enum {
    STEP_INDEX,    /* optimizer step, from 0 */
    STEP_MICRO,    /* micro-batch within the step, from 0 */
    STEP_LR,       /* learning rate of this step */
    STEP_BIAS1,    /* 1 - beta1^(STEP_UPDATES + 1) */
    STEP_BIAS2,    /* 1 - beta2^(STEP_UPDATES + 1) */
    STEP_SEED_LOW, /* low and high 32 bits of the seed */
    STEP_SEED_HIGH,
    STEP_FIRST_SAMPLE, /* global number (0 = first sample of the run) of this call's first sample */
    STEP_SLOT,         /* which of the two staging slots holds this call's batch: 0 or 1 */
    STEP_FACTORED,     /* (STEP_UPDATES + 1)^beta2_decay: 1 - beta2 of factored moments */
    STEP_BIAS3,        /* 1 - beta3^(STEP_UPDATES + 1) */
    STEP_UPDATES,      /* steps before this one that updated the weights */
    STEP_LOSS_SCALE,   /* of f16: factor of the seed of backward on top of 2^exponent; 0: none */
    STEP_SLOTS = 16
};

/* The state `scale`, f64[SCALE_SLOTS], written by op step_scale and read by the updates. */
enum {
    SCALE_GRADIENT,  /* factor from the reduced gradient to the one that the update uses (with clip)
                      */
    SCALE_UNCLIPPED, /* the same without clipping: reduced gradient -> true gradient */
    SCALE_APPLY,     /* 1: update; 0: leave parameters and moments as they are */
    SCALE_LOSS,      /* mean loss over the global batch */
    SCALE_NORM,      /* global p-norm of the true gradient, before clipping */
    SCALE_COUNT,     /* targets that were not ignored, global */
    SCALE_FINITE,    /* 1 if loss and norm are finite, or there was no target */
    SCALE_SQUARES,   /* 2^that is above the squared 2-norm of each row and column after clipping */
    SCALE_SLOTS = 8
};

/* What the host keeps between steps, and checkpoints hold. */
typedef struct LossScale {
    double scale;    /* of f16; 0: none */
    int64_t good;    /* steps without overflow since it changed */
    int64_t skipped; /* of all steps those that updated nothing, in any precision */
} LossScale;

/* Attributes of an op. Which ones an op has is the mask in its row of ops.def; the others are zero.
 * All fields are 8 bytes so that a plan holds the struct as it is. */
typedef struct Attrs {
#define ATTR(field, name, ...) __VA_ARGS__ field;
#define INT(least, most) int64_t
#define REAL(least, most) double
#define BOOL() int64_t
#define WORD(words, count) int64_t
#define AXES() int64_t
#include "attrs.def"
} Attrs;

enum {
#define ATTR(field, name, ...) ATTR_BIT_##field,
#include "attrs.def"
    ATTR_COUNT
};
/* type.c */
enum { TYPE_TEXT = 160 };
void type_format(const Type *t, char *out, size_t size); /* bf16[2, 32, 257:264] */
static inline bool type_same_dims(const Type *a, const Type *b) {
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i];
    return same;
}
bool type_equal(const Type *a, const Type *b); /* the pitch included */
/* Whether b's dims are the last dims of a. */
bool type_is_suffix(const Type *b, const Type *a);
/* Whether dtype, rank, dims and pitch are in range, and the value has at most 2^50 bytes. */
bool type_sound(const Type *t);

#endif

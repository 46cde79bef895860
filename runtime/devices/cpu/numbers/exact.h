/* Exact sums: numbers that are f32 values, their squares, or their cubes rounded to f64 are added
 * into the bins of an exact accumulator (op.h) without rounding, so the sum does not depend on
 * order or grouping. The words of a result are carried (carry_words): equal for all groupings.
 *
 * A block of numbers is added in levels. A level of unit 2^u is a running sum in f64 that begins at
 * 1.5 * 2^(52 + u), so that it is a multiple of 2^u all the time: adding x adds the multiple of 2^u
 * nearest to it, and what x loses by that, which is exact, goes to the next level. LEVEL_BITS below
 * the largest number of the block a level cannot overflow. The exponents of the largest number and
 * of the smallest that is not zero say how many levels a block needs: squares of bf16 mostly one,
 * squares of f32 two. The integers that the levels hold in the end go into the bins.
 *
 * Numbers that are not finite are counted and left out.
 */
#ifndef FSDPC_CPU_EXACT_H
#define FSDPC_CPU_EXACT_H

#include "floats.h"
#include "kernel.h"
#include "vector.h"
#include "words.h"

/* Of a block: 512 numbers, each of these in PARTS registers of f64. */
enum { EXACT_VECTORS = 32, EXACT_NUMBERS = EXACT_VECTORS * LANES, LEVEL_BITS = 44 };
enum { INFINITE_BITS = 0x7f800000 };

typedef struct ExactSum {
    V16 x[EXACT_VECTORS]; /* pushed, not yet added */
    int n;
    int power;    /* these powers of them are added */
    int64_t lost; /* numbers that are not finite */
    int64_t bins[EXACT_BINS];
    int64_t count; /* EXACT_COUNT */
} ExactSum;

/* A block of vectors, in f32 or bf16. Loops take a register of them at a time. */
typedef struct ExactBlock {
    const void *at;
    int dtype, vectors, power;
} ExactBlock;

/* Both are below 2^31. */
VECTOR_INLINE UPart larger_of(UPart a, UPart b) {
#ifdef __AVX2__
    WordRegister x = (WordRegister)a, y = (WordRegister)b;
    return (UPart)INSTRUCTION(max_epu32);
#else
    UPart more = (UPart)((IPart)a > (IPart)b);
    return (more & a) | (~more & b);
#endif
}
VECTOR_INLINE uint32_t largest_lane(UPart x) {
    uint32_t largest = 0;
    for (int l = 0; l < REGISTER / 4; l++) largest = MAX(largest, x[l]);
    return largest;
}

VECTOR_INLINE void load_part(void *to, const void *from, int number, int bytes) {
    memcpy(to, (const char *)from + number * bytes, (size_t)bytes);
}

/* The bits of a register full of numbers. */
VECTOR_INLINE UPart bits_of_block(const ExactBlock *b, int r) {
    typedef uint16_t Half __attribute__((vector_size(REGISTER / 2)));
    UPart x;
    Half half;
    if (b->dtype == DT_F32) {
        load_part(&x, b->at, r, sizeof x);
        return x;
    }
    load_part(&half, b->at, r, sizeof half);
    return __builtin_convertvector(half, UPart) << 16;
}

/* Blocks that follow: while one is added memory has nothing else to do. */
VECTOR_INLINE void prefetch_numbers(const void *at, int byte) {
    enum { DISTANCE = 4 << 10 };
    __builtin_prefetch((const char *)at + DISTANCE + byte);
}

/* Bits of the largest and of the smallest |x| that is not zero. */
typedef struct ExactSpan {
    uint32_t largest, least;
} ExactSpan;
VECTOR_INLINE ExactSpan span_of(const ExactBlock *b) {
    const uint32_t size = 0x7fffffffu;
    UPart top[REGISTERS] = {0};
    UPart depth[REGISTERS] = {0}; /* of the least, how far below 2^31 */
    for (int v = 0; v < b->vectors; v++)
#pragma GCC unroll 4
        for (int r = 0; r < REGISTERS; r++) {
            UPart x = bits_of_block(b, v * REGISTERS + r) & size;
            top[r] = larger_of(x, top[r]);
            depth[r] = larger_of((0u - x) & size, depth[r]);
        }
    for (int r = 1; r < REGISTERS; r++) {
        top[0] = larger_of(top[0], top[r]);
        depth[0] = larger_of(depth[0], depth[r]);
    }
    return (ExactSpan){largest_lane(top[0]), size + 1 - largest_lane(depth[0])};
}

/* Of 2^e <= |x| < 2^(e + 1); that of the smallest normal number for denormal ones. */
static inline int exponent_of(uint32_t bits) { return MAX((int)(bits >> 23), 1) - 127; }

VECTOR_INLINE DPart level_start(int unit) { return (DPart){0} + 1.5 * power_of_two(52 + unit); }

/* The powers of PART numbers. */
VECTOR_INLINE DPart powers_of_block(const ExactBlock *b, int part) {
    typedef uint32_t Bits __attribute__((vector_size(REGISTER / 2)));
    typedef uint16_t Half __attribute__((vector_size(REGISTER / 4)));
    PartFloats f;
    if (b->dtype == DT_F32) {
        load_part(&f, b->at, part, sizeof f);
    } else {
        Half half;
        load_part(&half, b->at, part, sizeof half);
        Bits bits = __builtin_convertvector(half, Bits) << 16;
        memcpy(&f, &bits, sizeof f);
    }
    DPart x = __builtin_convertvector(f, DPart);
    return b->power == 1 ? x : b->power == 2 ? x * x : x * x * x;
}

/* Adds a sum of multiples of 2^unit. What is below the bins is zero in it. */
static inline void put_units(ExactSum *s, int64_t sum, int unit) {
    const int64_t digit = ((int64_t)1 << EXACT_BIN_BITS) - 1;
    int place = unit - EXACT_LOWEST_EXPONENT;
    if (place < 0) {
        sum >>= MIN(-place, 63);
        place = 0;
    }
    int k = place / EXACT_BIN_BITS, up = place % EXACT_BIN_BITS;
    int64_t low = (sum & digit) * ((int64_t)1 << up);
    int64_t high = (sum >> EXACT_BIN_BITS) * ((int64_t)1 << up) + (low >> EXACT_BIN_BITS);
    s->bins[k] += low & digit;
    for (k++; k < EXACT_BINS - 1 && high != 0; k++) {
        s->bins[k] += high & digit;
        high >>= EXACT_BIN_BITS;
        if (high == -1) {
            s->bins[k] -= digit + 1;
            high = 0;
        }
    }
    if (high != 0) s->bins[EXACT_BINS - 1] += high; /* takes all */
}

static inline void put_level(ExactSum *s, const DPart level[PARTS], int unit) {
    DPart start = level_start(unit);
    LPart zero, all = {0};
    memcpy(&zero, &start, sizeof zero);
    for (int i = 0; i < PARTS; i++) {
        LPart x;
        memcpy(&x, &level[i], sizeof x);
        all += x - zero;
    }
    int64_t sum = 0;
    for (int l = 0; l < PART; l++) sum += all[l];
    put_units(s, sum, unit);
}

VECTOR_INLINE void one_level(ExactSum *s, ExactBlock b, int unit) {
    DPart level[PARTS];
    for (int i = 0; i < PARTS; i++) level[i] = level_start(unit);
    for (int v = 0; v < b.vectors; v++)
#pragma GCC unroll 8
        for (int i = 0; i < PARTS; i++) level[i] += powers_of_block(&b, v * PARTS + i);
    put_level(s, level, unit);
}

/* What the first of two levels loses of a number goes to the second. */
VECTOR_INLINE void two_levels(ExactSum *s, ExactBlock b, int unit, int below) {
    DPart first[PARTS], second[PARTS];
    for (int i = 0; i < PARTS; i++) first[i] = level_start(unit), second[i] = level_start(below);
    for (int v = 0; v < b.vectors; v++) {
        prefetch_numbers(b.at, v * (int)sizeof(V16));
#pragma GCC unroll 8
        for (int i = 0; i < PARTS; i++) {
            DPart x = powers_of_block(&b, v * PARTS + i), next = first[i] + x;
            second[i] += x - (next - first[i]);
            first[i] = next;
        }
    }
    put_level(s, first, unit);
    put_level(s, second, below);
}

/* Any number of levels, until all bits from 2^lowest on are in one. */
static inline void all_levels(ExactSum *s, ExactBlock b, int unit, int lowest) {
    DPart rest[PARTS * EXACT_VECTORS];
    for (int i = 0; i < PARTS * b.vectors; i++) rest[i] = powers_of_block(&b, i);
    for (;; unit -= LEVEL_BITS + 1) {
        DPart level[PARTS];
        for (int i = 0; i < PARTS; i++) level[i] = level_start(unit);
        for (int v = 0; v < b.vectors; v++)
#pragma GCC unroll 8
            for (int i = 0; i < PARTS; i++) {
                DPart next = level[i] + rest[v * PARTS + i];
                rest[v * PARTS + i] -= next - level[i];
                level[i] = next;
            }
        put_level(s, level, unit);
        if (unit <= lowest) break;
    }
}

/* Counts the numbers of the block that are not finite; `to` receives the others. */
static inline ExactBlock without_lost(ExactSum *s, ExactBlock b, V16 *to) {
    for (int v = 0; v < b.vectors; v++) {
        to[v] = v_load(b.at, b.dtype, v * LANES);
        I16 finite = i_less((I16)(v_bits(to[v]) & 0x7fffffffu), i_all(INFINITE_BITS));
        to[v] = v_from_bits(v_bits(to[v]) & (U16)finite);
        for (int l = 0; l < LANES; l++) s->lost += finite[l] == 0;
    }
    return (ExactBlock){to, DT_F32, b.vectors, b.power};
}

VECTOR_INLINE void add_finite(ExactSum *s, ExactBlock b, ExactSpan span) {
    int mantissa = b.dtype == DT_BF16 ? 7 : 23;
    int least = exponent_of(span.least), lowest = b.power * (least - mantissa);
    if (b.power == 3) lowest = MAX(lowest, 3 * least - 52);
    int unit = b.power * (exponent_of(span.largest) + 1) - LEVEL_BITS;
    int below = unit - LEVEL_BITS - 1;
    if (lowest >= unit)
        one_level(s, b, unit);
    else if (lowest >= below)
        two_levels(s, b, unit, below);
    else
        all_levels(s, b, unit, lowest);
}

/* In copies for what is common, so that dtype and power are known in the loops. */
static inline void add_block(ExactSum *s, ExactBlock b) {
    V16 others[EXACT_VECTORS];
    ExactSpan span = b.dtype == DT_BF16 ? span_of(&(ExactBlock){b.at, DT_BF16, b.vectors, b.power})
                                        : span_of(&b);
    if (span.largest >= INFINITE_BITS) {
        b = without_lost(s, b, others);
        span = span_of(&b);
    }
    if (span.largest == 0) return;
    if (b.dtype == DT_F32 && b.power == 2)
        add_finite(s, (ExactBlock){b.at, DT_F32, b.vectors, 2}, span);
    else if (b.dtype == DT_BF16 && b.power == 2)
        add_finite(s, (ExactBlock){b.at, DT_BF16, b.vectors, 2}, span);
    else
        add_finite(s, b, span);
}

/* Squares of a whole block of f32, of which the loops know all. */
static inline void add_squares(ExactSum *s, const void *at) {
    ExactBlock b = {at, DT_F32, EXACT_VECTORS, 2};
    ExactSpan span = span_of(&b);
    if (span.largest >= INFINITE_BITS)
        add_block(s, b);
    else if (span.largest != 0)
        add_finite(s, b, span);
}

static inline void exact_flush(ExactSum *s) {
    if (s->n) add_block(s, (ExactBlock){s->x, DT_F32, s->n, s->power});
    s->n = 0;
}

/* Adds sixteen f32 numbers, or their squares; the same for all of a sum. */
VECTOR_INLINE void exact_push(ExactSum *s, V16 x, bool square) {
    s->power = square ? 2 : 1;
    s->x[s->n++] = x;
    if (s->n == EXACT_VECTORS) exact_flush(s);
}

/* The same of one number. */
VECTOR_INLINE void exact_push_one(ExactSum *s, float x) {
    exact_push(s, v_first(v_all(x), 1, 0.0f), false);
}

/* Adds the cubes of sixteen |x|, each rounded to f64; the same for all of a sum. */
VECTOR_INLINE void exact_push_cubes(ExactSum *s, V16 x) {
    I16 bits = (I16)v_bits(v_abs(x));
    I16 fits = i_less(bits, i_all((CUBE_END + 127) << 23));
    I16 counts = ~i_less(bits, i_all((CUBE_LOWEST + 127) << 23));
    for (int l = 0; l < LANES; l++) s->lost += fits[l] == 0;
    s->power = 3;
    s->x[s->n++] = v_from_bits((U16)(bits & fits & counts));
    if (s->n == EXACT_VECTORS) exact_flush(s);
}

/* ---- squares of bf16: of whole numbers
 *
 * A block is twice as long, and its vectors are words of two numbers each. Scaled so that they stay
 * below 2^WHOLE_BITS, numbers of one block mostly are integers, whose squares are added as such. */

enum { WHOLE_BITS = 26, WORD_NUMBERS = 2 * EXACT_NUMBERS };

VECTOR_INLINE SPart larger_words(SPart a, SPart b) {
    WordRegister x = (WordRegister)a, y = (WordRegister)b;
    return (SPart)INSTRUCTION(max_epi16);
}
VECTOR_INLINE uint32_t largest_word(SPart x) {
    int largest = 0;
    for (int l = 0; l < REGISTER / 2; l++) largest = MAX(largest, x[l]);
    return (uint32_t)largest;
}

/* As span_of. */
static inline ExactSpan span_of_words(const void *at) {
    const SPart size = (SPart){0} + INT16_MAX, zero = {0};
    SPart top[REGISTERS] = {0}, depth[REGISTERS] = {0};
    for (int v = 0; v < EXACT_VECTORS; v++)
#pragma GCC unroll 4
        for (int r = 0; r < REGISTERS; r++) {
            SPart x;
            load_part(&x, at, v * REGISTERS + r, sizeof x);
            x &= size;
            top[r] = larger_words(x, top[r]);
            depth[r] = larger_words((zero - x) & size, depth[r]);
        }
    for (int r = 1; r < REGISTERS; r++) {
        top[0] = larger_words(top[0], top[r]);
        depth[0] = larger_words(depth[0], depth[r]);
    }
    return (ExactSpan){largest_word(top[0]) << 16, (INT16_MAX + 1u - largest_word(depth[0])) << 16};
}

/* The squares of the lower halves of a. */
VECTOR_INLINE LPart low_squares(LPart a) {
#ifdef __AVX2__
    WordRegister x = (WordRegister)a, y = x;
    return (LPart)INSTRUCTION(mul_epi32);
#else
    a = a << 32 >> 32;
    return a * a;
#endif
}

VECTOR_INLINE LPart whole_squares(UPart bits, float scale) {
    VPart x;
    memcpy(&x, &bits, sizeof x);
    LPart whole = (LPart) __builtin_convertvector(x * scale, IPart);
    return low_squares(whole) + low_squares(whole >> 32);
}

/* Numbers that are too far apart are added by halves of the block. */
static inline void add_words(ExactSum *s, const void *at) {
    ExactSpan span = span_of_words(at);
    int most = exponent_of(span.largest) + 1, least = exponent_of(span.least);
    if (span.largest == 0) return;
    if (most > 128 || most < -100 || least - 7 < most - WHOLE_BITS) {
        add_block(s, (ExactBlock){at, DT_BF16, EXACT_VECTORS, 2});
        add_block(s, (ExactBlock){(const uint16_t *)at + EXACT_NUMBERS, DT_BF16, EXACT_VECTORS, 2});
        return;
    }
    float scale = (float)power_of_two(WHOLE_BITS - most);
    LPart even = {0}, odd = {0};
    for (int r = 0; r < EXACT_VECTORS * REGISTERS; r++) {
        UPart x;
        load_part(&x, at, r, sizeof x);
        prefetch_numbers(at, r * REGISTER);
        even += whole_squares(x << 16, scale);
        odd += whole_squares(x & 0xffff0000u, scale);
    }
    even += odd;
    int64_t sum = 0;
    for (int l = 0; l < PART; l++) sum += even[l];
    put_units(s, sum, 2 * (most - WHOLE_BITS));
}

/* Adds the squares of elements [from, to): whole blocks from where they lie. */
static inline void exact_add_squares(ExactSum *s, const void *x, int dtype, int64_t from,
                                     int64_t to) {
    for (; dtype == DT_BF16 && from + WORD_NUMBERS <= to; from += WORD_NUMBERS)
        add_words(s, (const uint16_t *)x + from);
    for (; dtype == DT_F32 && from + EXACT_NUMBERS <= to; from += EXACT_NUMBERS)
        add_squares(s, (const float *)x + from);
    for (; dtype == DT_BF16 && from + EXACT_NUMBERS <= to; from += EXACT_NUMBERS)
        add_block(s, (ExactBlock){(const uint16_t *)x + from, DT_BF16, EXACT_VECTORS, 2});
    for (; from < to; from += LANES) exact_push(s, v_get(x, dtype, from, to - from), true);
}

/* Carries, so that equal sums have equal words: those below the last are in [-2^27, 2^27). */
static inline void carry_words(int64_t *words) {
    for (int k = 0; k + 1 < EXACT_BINS; k++) {
        int64_t up = (words[k] + ((int64_t)1 << (EXACT_BIN_BITS - 1))) >> EXACT_BIN_BITS;
        words[k] -= up * ((int64_t)1 << EXACT_BIN_BITS);
        words[k + 1] += up;
    }
}

/* Adds a thread's sum to the kernel's result, which does not depend on the order of threads. */
static inline void exact_finish(ExactSum *s, int64_t *result) {
    exact_flush(s);
    int64_t words[EXACT_WORDS] = {[EXACT_COUNT] = s->count, [EXACT_NONFINITE] = s->lost};
    memcpy(words, s->bins, sizeof s->bins);
#pragma omp critical(exact_sum)
    {
        for (int k = 0; k < EXACT_WORDS; k++) result[k] += words[k];
        carry_words(result);
    }
}

/* ---- sums of operands */

/* Of numbers these powers, of which the first is of their sizes; or they as they are. */
enum { EXACT_SIGNED = -1 };

/* Adds elements [from, to). power: 1, 3, EXACT_SIGNED; any other: 2. */
static inline void exact_add_powers(ExactSum *s, Operand x, int64_t from, int64_t to,
                                    int64_t power) {
    if (power != 1 && power != 3 && power != EXACT_SIGNED) {
        exact_add_squares(s, x.at, x.dtype, from, to);
        return;
    }
    for (int64_t i = from; i < to; i += LANES) {
        V16 v = v_get(x.at, x.dtype, i, to - i);
        if (power == 3)
            exact_push_cubes(s, v);
        else
            exact_push(s, power == 1 ? v_abs(v) : v, false);
    }
}

/* words: the exact sum of these elements, by all threads. */
static inline void exact_of(const Launch *l, Operand x, WorkRange of, int64_t power,
                            int64_t *words) {
    memset(words, 0, EXACT_WORDS * sizeof *words);
#pragma omp parallel num_threads(threads_for(l, of.to - of.from))
    {
        ExactSum sum = {0};
        WorkRange r = my_range(of.to - of.from, 512);
        exact_add_powers(&sum, x, of.from + r.from, of.from + r.to, power);
        exact_finish(&sum, words);
    }
}

/* ---- gradients */

/* x from -most to most, if that is above 0. */
VECTOR_INLINE V16 v_clipped(V16 x, float most) {
    return most > 0.0f ? v_at_least(v_at_most(x, most), -most) : x;
}

#endif

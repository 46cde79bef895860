/* The angles of rotary position embedding (op rope), the same bits on all devices and ranks.
 *
 * Pair i of n turns by base^(-i / n) radians a position. With scaling (`original` positions, as
 * Llama 3 has it): a pair that turns fewer than `low` times within them is slowed down by `factor`,
 * one that turns more than `high` times is not, and between the two limits the share of the slow
 * speed falls in a straight line. Without `original` all pairs are slow.
 *
 * Speeds are in turns, in f64, computed on the host only with additions, multiplications and
 * divisions. A position times a speed is reduced to a fraction of a turn, exactly, and cosine and
 * sine are Taylor series of the rest within an eighth: an angle is wrong by less than 1e-9 up to
 * position 2^17, and its cosine is then rounded once, to f32. No product may be contracted with a
 * sum: kernels for the GPU define ROTARY_TIMES and ROTARY_PLUS.
 */
#ifndef FSDPC_ROTARY_H
#define FSDPC_ROTARY_H

#include <math.h>

#include "kernel.h"

#ifndef ROTARY_TIMES
#define ROTARY_TIMES(a, b) ((a) * (b))
#define ROTARY_PLUS(a, b) ((a) + (b))
#endif

/* ln x of x >= 1: x = m 2^k, ln m = 2 artanh((m - 1) / (m + 1)). */
static inline double rotary_log(double x) {
    int k = 0;
    double m = frexp(x, &k), s = (m - 1.0) / (m + 1.0), sum = 0.0;
    for (int i = 61; i >= 3; i -= 2) sum = (sum + 1.0 / i) * (s * s);
    return k * 0.69314718055994531 + 2.0 * (s + s * sum);
}

/* e^-x of x >= 0 as 2^-k e^-r, |r| <= ln 2 / 2. */
static inline double rotary_exp_minus(double x) {
    double k = floor(x * 1.4426950408889634 + 0.5), sum = 1.0;
    double r = (x - k * 0.69314718036912382) - k * 1.9082149292705877e-10;
    for (int i = 20; i >= 1; i--) sum = 1.0 - r / i * sum;
    return ldexp(sum, -(int)k);
}

/* Turns a position of pair i of n. */
static inline double rotary_speed(const Attrs *a, int64_t i, int64_t n) {
    double speed =
        rotary_exp_minus((double)i / (double)n * rotary_log(a->base)) * 0.15915494309189535;
    double turns = speed * (double)a->original, slow = 1.0;
    if (a->original && turns > a->low)
        slow = turns >= a->high ? 0.0 : (a->high - turns) / (a->high - a->low);
    return slow * (speed / a->factor) + (1.0 - slow) * speed;
}

/* Cosine and sine of `turns` turns. */
DEVICE void rotary_point(double turns, float *cosine, float *sine) {
    double whole = floor(ROTARY_PLUS(turns, 0.5));
    double part = ROTARY_PLUS(turns, -whole); /* exact, from -1/2 to 1/2 */
    double quarter = floor(ROTARY_PLUS(ROTARY_TIMES(part, 4.0), 0.5));
    double x = ROTARY_TIMES(ROTARY_PLUS(part, ROTARY_TIMES(quarter, -0.25)), 6.2831853071795865);
    double z = ROTARY_TIMES(x, x);
    double s = 1.6059043836821613e-10, c = -1.1470745597729725e-11;
    s = ROTARY_PLUS(ROTARY_TIMES(s, z), -2.5052108385441719e-08);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), 2.0876756987868100e-09);
    s = ROTARY_PLUS(ROTARY_TIMES(s, z), 2.7557319223985893e-06);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), -2.7557319223985888e-07);
    s = ROTARY_PLUS(ROTARY_TIMES(s, z), -1.9841269841269841e-04);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), 2.4801587301587302e-05);
    s = ROTARY_PLUS(ROTARY_TIMES(s, z), 8.3333333333333332e-03);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), -1.3888888888888889e-03);
    s = ROTARY_PLUS(ROTARY_TIMES(s, z), -1.6666666666666666e-01);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), 4.1666666666666664e-02);
    s = ROTARY_PLUS(ROTARY_TIMES(ROTARY_TIMES(s, z), x), x);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), -0.5);
    c = ROTARY_PLUS(ROTARY_TIMES(c, z), 1.0);
    /* quarters: 0, 1, -1, and 2 or -2 */
    int odd = quarter == 1.0 || quarter == -1.0, back = quarter == 2.0 || quarter == -2.0;
    double to_cosine = odd ? -s * quarter : back ? -c : c;
    double to_sine = odd ? c * quarter : back ? -s : s;
    *cosine = (float)to_cosine;
    *sine = (float)to_sine;
}

#endif

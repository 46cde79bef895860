/* Numbers for people: bytes in binary units, counts with commas, work in decimal units. */
#include <string.h>

#include "dump.h"

/* Divides x by `step` while it is as large; returns the name of the unit that is left. */
static const char *unit_of(double *x, double step, const char *const units[6]) {
    int unit = 0;
    for (; *x >= step && unit < 5; unit++) *x /= step;
    return units[unit];
}
static const char *binary_unit(double *x) {
    return unit_of(x, 1024, (const char *const[]){"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

const char *amount_bytes(Arena *a, uint64_t bytes) {
    double x = (double)bytes;
    const char *unit = binary_unit(&x);
    return arena_printf(a, "%.*f %s", *unit == 'B' ? 0 : 1, x, unit);
}

const char *amount_short(Arena *a, uint64_t bytes) {
    double x = (double)bytes;
    const char *unit = binary_unit(&x);
    return arena_printf(a, "%.*f %s", *unit == 'B' || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, x, unit);
}

static const char *decimal_unit(double *x) {
    return unit_of(x, 1000, (const char *const[]){"", "k", "M", "G", "T", "P"});
}

const char *amount_flops(Arena *a, double flops) {
    const char *unit = decimal_unit(&flops);
    return arena_printf(a, "%.*f %sFLOP", *unit ? 1 : 0, flops, unit);
}

const char *amount_count(Arena *a, int64_t n) {
    double x = (double)n;
    const char *unit = decimal_unit(&x);
    return arena_printf(a, "%.*f%s", !*unit || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, x, unit);
}

const char *amount_commas(Arena *a, int64_t n) {
    char *digits = arena_printf(a, "%lld", (long long)n);
    size_t length = strlen(digits);
    char *out = arena_alloc(a, length + length / 3 + 1), *to = out;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-') *to++ = ',';
        *to++ = digits[i];
    }
    return out;
}

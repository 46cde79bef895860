/* What steps of a run take, by its log. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double measure_median(double *at, uint32_t n) {
    qsort(at, n, sizeof *at, by_size);
    return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

/* The first step touches memory for the first time. */
double measure_step_seconds(Arena *a, const char *log) {
    VEC(double) seconds = {0};
    for (const char *end; (end = strchr(log, '\n')); log = end + 1) {
        json_t *j = json_loadb(log, (size_t)(end - log), 0, NULL);
        const json_t *took = json_object_get(j, "step_ms");
        bool later = json_integer_value(json_object_get(j, "step")) > 0;
        if (json_is_number(took) && later) vec_push(a, &seconds, json_number_value(took) / 1e3);
        json_decref(j);
    }
    return seconds.n ? measure_median(seconds.at, seconds.n) : 0;
}

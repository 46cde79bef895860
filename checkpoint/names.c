/* Names of steps: a folder with such a name is a complete checkpoint of that step. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"

#define PREFIX "step-"

void ck_step_name(char out[32], int64_t step) { snprintf(out, 32, PREFIX "%08" PRId64, step); }

bool ck_step_number(const char *name, int64_t *step) {
    char *end;
    if (strncmp(name, PREFIX, strlen(PREFIX)) || !isdigit((unsigned char)name[strlen(PREFIX)]))
        return false;
    errno = 0;
    *step = strtoll(name + strlen(PREFIX), &end, 10);
    return !errno && !*end;
}

bool ck_is_step(const char *name, int64_t *step) {
    char again[32];
    if (!ck_step_number(name, step)) return false;
    ck_step_name(again, *step);
    return !strcmp(name, again);
}

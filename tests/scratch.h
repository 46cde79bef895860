/* A folder for what a C test writes: setup and teardown of a cmocka group. */
#ifndef FSDPC_TESTS_SCRATCH_H
#define FSDPC_TESTS_SCRATCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64]; /* its path, between the two calls */

static inline int scratch_make(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(scratch, sizeof scratch, "/tmp/fsdpc-test-%d-%d", (int)getpid(), i);
        if (!mkdir(scratch, 0700)) return 0;
        if (errno != EEXIST) break;
    }
    return -1;
}

static inline int scratch_remove(void **state) {
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

#endif

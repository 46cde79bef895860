/* What both programs need of the stack before they do anything else. */
#ifndef FSDPC_STACK_LIMIT_H
#define FSDPC_STACK_LIMIT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_STACK_BYTES (256u << 10)

/* False after a message on stderr, which is written without a buffer on the stack: the rest of the
 * program would end by a signal and say nothing. */
static inline bool stack_suffices(void) {
    static const char text[] = "error: the limit on the stack (ulimit -s) is less than 256 KiB\n"
                               "help: ulimit -s 8192\n";
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST_STACK_BYTES) return true;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    return false;
}

#endif

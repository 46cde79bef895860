/* Reading files through mappings. When the file has become shorter, or its disk fails, the access
 * ends in SIGBUS; here it becomes an answer.
 *
 * What it cannot see: bytes cut off the last page that is left, which read as zeros (dataset.c asks
 * for the size).
 */
#include <setjmp.h>
#include <signal.h>

#include "runtime.h"

static __thread sigjmp_buf *volatile back; /* where this thread's reading goes on */

static void on_missing(int signal_number) {
    if (back) siglongjmp(*back, 1);
    signal(signal_number,
           SIG_DFL); /* not while reading: the instruction is tried again, and ends */
}

void mapped_watch(void) {
    struct sigaction a = {.sa_handler = on_missing};
    sigaction(SIGBUS, &a, NULL);
}

bool mapped_read(void (*read)(void *), void *user) {
    sigjmp_buf here;
    bool whole = false;
    if (!sigsetjmp(here, 1)) {
        back = &here;
        read(user);
        whole = true;
    }
    back = NULL;
    return whole;
}

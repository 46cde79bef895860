/* How far an attempt to run has come: a page of memory that rank 0 shares with the processes that
 * start the run, which are on the same machine. Ranks on other machines only know from a variable
 * that there is one. In go what rank 0 reports; out comes what the starting processes decide by.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "checkpoint.h"

#define PAGE "FSDP_RUN_PROGRESS" /* file of the page */

static AttemptProgress *page; /* NULL: there is none */

AttemptProgress *attempt_share(void) {
    char path[64];
    int fd = memfd_create("progress", MFD_CLOEXEC);
    page = MAP_FAILED;
    if (fd >= 0 && !ftruncate(fd, sizeof *page))
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) fail_environment("cannot watch the run: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(PAGE, path, 1);
    return page;
}

AttemptProgress *attempt_find(void) {
    const char *path = getenv(PAGE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return NULL;
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    prctl(PR_SET_NAME, "fsdp-run"); /* it was started as "exe" */
    if (page == MAP_FAILED) page = NULL;
    return page;
}

bool attempt_speak(void) {
    pid_t mine = getpid(), first = 0;
    return !page || atomic_compare_exchange_strong(&page->speaker, &first, mine) || first == mine;
}

void attempt_note(AttemptProgress *p, int64_t done) {
    if (!p) return;
    atomic_store(&p->done, done);
    atomic_store(&p->begun, 1);
}

/* Whoever comes first decides. */
static bool decide_stage(AttemptProgress *p, int32_t stage) {
    int32_t now = ATTEMPT_STARTS;
    return atomic_compare_exchange_strong(&p->stage, &now, stage) || now == stage;
}

bool attempt_meet(AttemptProgress *p) { return !p || decide_stage(p, ATTEMPT_MET); }

bool attempt_call_off(AttemptProgress *p) { return p && decide_stage(p, ATTEMPT_CALLED_OFF); }

void attempt_end(AttemptProgress *p, int code) {
    if (p) atomic_store(&p->ended, 1 + code);
}

bool attempt_ended(const AttemptProgress *p, int *code) {
    *code = p ? atomic_load(&p->ended) - 1 : -1;
    return *code >= 0;
}

static bool is_restart(void) {
    const char *attempt = getenv(RUN_ATTEMPT);
    return attempt && strcmp(attempt, "0");
}

bool attempt_met(const AttemptProgress *p) {
    return is_restart() || (p && atomic_load(&p->stage) == ATTEMPT_MET);
}

void attempt_resume(const char *folder, RunOptions *o) {
    uint32_t n = 0;
    if (is_restart()) free(ck_steps(folder, &n));
    if (!n) return;
    o->resume = folder;
    o->load = NULL; /* the checkpoint continues from those weights */
}

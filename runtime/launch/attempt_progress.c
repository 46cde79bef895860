/* How far an attempt to run has come: a page of memory that rank 0 shares with the processes that
 * start the run, which are on the same machine. Ranks on other machines only know from a variable
 * that there is one. In: what rank 0 reports. Out: what the starting processes decide by.
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

AttemptProgress *attempt_page;

/* Maps the file of the page, if there is one. */
static void map_page(int fd) {
    void *page = mmap(NULL, sizeof *attempt_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    attempt_page = page == MAP_FAILED ? NULL : page;
}

void attempt_share(void) {
    char path[64];
    int fd = memfd_create("progress", MFD_CLOEXEC);
    if (fd >= 0 && !ftruncate(fd, sizeof *attempt_page)) map_page(fd);
    if (!attempt_page) fail_environment("cannot watch the run: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(PAGE, path, 1);
}

void attempt_find(void) {
    const char *path = getenv(PAGE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    map_page(fd);
    close(fd);
    prctl(PR_SET_NAME, "fsdp-run"); /* it was started as "exe" */
}

bool attempt_speak(void) {
    AttemptProgress *p = attempt_page;
    pid_t mine = getpid(), first = 0;
    return !p || atomic_compare_exchange_strong(&p->speaker, &first, mine) || first == mine;
}

void attempt_note(int64_t done) {
    if (!attempt_page) return;
    atomic_store(&attempt_page->done, done);
    atomic_store(&attempt_page->begun, 1);
}

/* Whoever comes first decides. */
static bool decide_stage(int32_t stage) {
    int32_t now = ATTEMPT_STARTS;
    return atomic_compare_exchange_strong(&attempt_page->stage, &now, stage) || now == stage;
}

bool attempt_meet(void) { return !attempt_page || decide_stage(ATTEMPT_MET); }

bool attempt_call_off(void) { return attempt_page && decide_stage(ATTEMPT_CALLED_OFF); }

void attempt_end(int code) {
    if (attempt_page) atomic_store(&attempt_page->ended, 1 + code);
}

bool attempt_ended(int *code) {
    *code = attempt_page ? atomic_load(&attempt_page->ended) - 1 : -1;
    return *code >= 0;
}

bool attempt_is_restart(void) {
    const char *attempt = getenv(RUN_ATTEMPT);
    return attempt && strcmp(attempt, "0");
}

bool attempt_met(void) {
    return attempt_is_restart() ||
           (attempt_page && atomic_load(&attempt_page->stage) == ATTEMPT_MET);
}

void attempt_resume(const char *folder, Arena *a, RunOptions *o) {
    uint32_t n = 0;
    if (attempt_is_restart()) free(ck_steps(folder, &n));
    if (!n) return;
    o->resume = folder;
    if (o->load && !ck_is_checkpoint(o->load)) o->save.origin = tensor_set_folder(a, o->load);
    o->load = NULL; /* the checkpoint continues from those weights */
}

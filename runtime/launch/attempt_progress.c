/* The course of a run: a page of memory shared by rank 0 and the processes that start the run,
 * which are on the same machine. Ranks on other machines know from a variable alone that there is
 * one.
 */
#include "attempt_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "checkpoint.h"

#define COURSE "FSDP_RUN_COURSE" /* file of the page */

Course *course_share(void) {
    char path[64];
    int fd = memfd_create("course", MFD_CLOEXEC);
    Course *page = MAP_FAILED;
    if (fd >= 0 && !ftruncate(fd, sizeof *page))
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) fail_environment("cannot watch over the run: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(COURSE, path, 1);
    return page;
}

void course_find(Run *run) {
    const char *path = getenv(COURSE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof *run->course, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) run->course = page;
    prctl(PR_SET_NAME, "fsdp-run"); /* not "exe", as which it was started */
}

void course_note(const Run *run, int64_t done) {
    if (!run->course) return;
    atomic_store(&run->course->done, done);
    atomic_store(&run->course->begun, 1);
}

/* Who comes first decides. */
static bool decide(const Run *run, int32_t stage) {
    int32_t now = COURSE_STARTS;
    return atomic_compare_exchange_strong(&run->course->stage, &now, stage) || now == stage;
}

bool course_meet(const Run *run) { return !run->course || decide(run, COURSE_MET); }

bool course_call_off(const Run *run) { return run->course && decide(run, COURSE_CALLED_OFF); }

void course_end(const Run *run, int code) {
    if (run->course) atomic_store(&run->course->ended, 1 + code);
}

bool course_ended(const Run *run, int *code) {
    *code = run->course ? atomic_load(&run->course->ended) - 1 : -1;
    return *code >= 0;
}

static bool is_restart(void) {
    const char *attempt = getenv(RUN_ATTEMPT);
    return attempt && strcmp(attempt, "0");
}

bool course_met(const Run *run) {
    return is_restart() || (run->course && atomic_load(&run->course->stage) == COURSE_MET);
}

void course_resume(const Run *run, Options *o) {
    uint32_t n = 0;
    if (is_restart()) free(ck_steps(run->checkpoint.folder, &n));
    if (!n) return;
    o->resume = run->checkpoint.folder;
    o->load = NULL; /* the checkpoint has what became of it */
}

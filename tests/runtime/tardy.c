/* A device module on which one launch of one rank is slow: everything else is the real cpu device,
 * which is next to this one as device_real.so. TARDY="sleep RANK LAUNCH SECONDS"; "work ..." keeps
 * the rank's thread busy like a long kernel; "stop ..." stops its process. "copy RANK SECONDS [N]":
 * the rank sleeps when it reads memory of another rank in a collective for the first, or the Nth,
 * time. "sleep ... copy ...": each lasts until the other has begun, however loaded the machine is:
 * the launch at least a second, and both at most their seconds. Before a launch or a copy is
 * delayed, the file TARDY_SIGN is created. "cut FILE": the file loses its last byte while the
 * device is opened, which is after the opening of all files. "map FILE BYTES": before its first
 * launch each rank writes to BYTES how much of the mapped file is in its memory. */
#include "device_beside.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static Device tardy;
static const Device *real;
static atomic_int launches;
static atomic_int copies;
static atomic_bool launch_is_late, copy_is_late;
enum { MOST = 64 };
static const DeviceContext *context_of[MOST];

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void make_sign(void) {
    const char *sign = getenv("TARDY_SIGN");
    FILE *made = sign ? fopen(sign, "w") : NULL;
    if (made) fclose(made);
}

/* other: NULL, or what may end the sleep after `least` seconds. */
static void sleep_until(const atomic_bool *other, double least, int seconds) {
    struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    double begun = now(CLOCK_MONOTONIC), slept = 0;
    if (!other) moment = (struct timespec){.tv_sec = seconds};
    while (slept < seconds && (slept < least || !other || !atomic_load(other))) {
        nanosleep(&moment, NULL);
        slept = now(CLOCK_MONOTONIC) - begun;
    }
}

/* `work` is seconds of the thread's own time, however loaded the machine is. */
static void launch_late(const char *how, int seconds, bool meets_copy) {
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&launch_is_late, true);
    make_sign();
    if (!strcmp(how, "stop")) raise(SIGSTOP);
    if (!strcmp(how, "sleep")) sleep_until(meets_copy ? &copy_is_late : NULL, 1, seconds);
    while (!strcmp(how, "work") && now(CLOCK_THREAD_CPUTIME_ID) - begun < seconds) continue;
}

static void copy_late(int seconds, bool meets_launch) {
    atomic_store(&copy_is_late, true);
    make_sign();
    sleep_until(meets_launch ? &launch_is_late : NULL, 0, seconds);
}

static int copy(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                char *error) {
    const char *all = getenv("TARDY"), *text = all ? strstr(all, "copy ") : NULL;
    int rank = -1, seconds = 0, number = 1;
    if (text && sscanf(text, "copy %d %d %d", &rank, &seconds, &number) >= 2 && rank >= 0 &&
        rank < MOST && context_of[rank] == c && ++copies == number)
        copy_late(seconds, text != all);
    return real->copy(c, stream, to, from, bytes, error);
}

static void cut(const char *path) {
    struct stat st;
    if (stat(path, &st) || truncate(path, st.st_size - 1)) abort();
}

/* The file's pages that this process has in memory, from its first mapping. */
static long resident(const char *file) {
    char line[4400];
    long kilobytes = -1;
    bool found = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && kilobytes < 0 && fgets(line, sizeof line, maps)) {
        size_t n = strlen(line), m = strlen(file);
        found |= n > m && !strncmp(line + n - 1 - m, file, m);
        if (found && sscanf(line, "Rss: %ld", &kilobytes) != 1) kilobytes = -1;
    }
    if (maps) fclose(maps);
    return kilobytes << 10;
}

static void say_resident(int rank) {
    static atomic_bool said;
    const char *text = getenv("TARDY");
    char file[256];
    long bytes;
    if (!text || sscanf(text, "map %255s %ld", file, &bytes) != 2 || atomic_exchange(&said, true))
        return;
    fprintf(stderr, "rank %d: %.2f\n", rank, (double)resident(file) / (double)bytes);
}

static int open_device(const DeviceOptions *o, DeviceContext **out, char *error) {
    const char *text = getenv("TARDY");
    if (text && !strncmp(text, "cut ", 4) && o->rank.rank == 0) cut(text + 4);
    int code = real->open(o, out, error);
    if (o->rank.rank < MOST) context_of[o->rank.rank] = *out;
    return code;
}

static int launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    const char *text = getenv("TARDY");
    say_resident(call->rank->rank);
    char how[8] = "";
    int rank = -1, number = 0, seconds = 0;
    if (text && sscanf(text, "%7s %d %d %d", how, &rank, &number, &seconds) == 4 &&
        call->rank->rank == rank && ++launches == number)
        launch_late(how, seconds, strstr(text, "copy "));
    return real->launch(c, stream, call, error);
}

const Device *fsdp_device(void) {
    real = device_beside(&tardy, "device_real.so");
    if (!real) return NULL;
    tardy.launch = launch;
    tardy.copy = copy;
    tardy.open = open_device;
    return &tardy;
}

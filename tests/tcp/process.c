/* A rank without a GPU and without a plan, for tests of the world over TCP. The environment says
 * who it is, as launchers set it; the command line says what it does, word by word:
 *
 *   compare [CODE]    start reports; this rank's code
 *   share ROOT        bytes of that rank
 *   agree N           the largest of all
 *   split N           agreement among every second rank
 *   many N            that many agreements, each checked
 *   watch             starts to be watched; `at` says where this rank is
 *   at SEQUENCE       the first collective that has not finished; -1: none
 *   work MS           signs of work for that long
 *   sleep MS, spin    time passes; until the run is over
 *   ready             meet.py may send its signals
 *   told              waits for the notice that a watched rank gets
 *   fail CODE TEXT    this rank failed
 *   kill, stop        by a signal that cannot be caught
 *   leave             ends in order
 *   where             without others: prints who this is and where it would meet the others
 *
 * FSDP_TIMEOUT is the limit. Every step prints a line; an error ends the process as in fsdp-run.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "world.h"

static _Atomic int64_t at = -1;
static _Atomic uint64_t beats;
static atomic_bool over;
static int32_t rank, ranks;
static TransportWorld *world;

static int32_t number(const char *name, int32_t otherwise) {
    const char *text = getenv(name);
    return text ? (int32_t)strtol(text, NULL, 10) : otherwise;
}

static void state(void *user, RankState *out) {
    int64_t sequence = atomic_load((_Atomic int64_t *)user);
    *out = (RankState){.waits = sequence >= 0, .axes = 1, .purpose = 1, .beats = beats};
    if (sequence < 0) return;
    out->sequence = out->finished = (uint64_t)sequence;
    snprintf(out->label, sizeof out->label, "all_gather of unit %d (m.fsd:7)", (int)sequence);
}

static void ended(void *user) {
    (void)user;
    atomic_store(&over, true);
}

static void say(const char *text, long long n) {
    printf("rank %d: %s %lld\n", rank, text, n);
    fflush(stdout);
}

static _Noreturn void quit(int code, const char *error) {
    bool mine = tcp_fail(world, rank, &code, error);
    if (mine) fprintf(stderr, "error: %s\n", error);
    fflush(stderr);
    say("ends", code);
    _exit(code);
}

static void compare(int code) {
    char error[ERROR_BYTES];
    StartReport mine = {.code = code, .plan = 7, .options = 9};
    StartReport *all = calloc((size_t)ranks, sizeof *all);
    if (!all) abort();
    int failed = tcp_compare(world, &mine, all, error);
    if (failed) quit(failed, error);
    int worst = 0;
    for (int32_t r = 0; r < ranks; r++) {
        if (all[r].plan != 7 || all[r].options != 9) abort();
        worst = MAX(worst, all[r].code);
    }
    free(all);
    say("compared", worst);
    if (worst) _exit(worst);
}

static void share(int32_t root) {
    char error[ERROR_BYTES];
    unsigned char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = rank == root ? (unsigned char)(i * 7 + (size_t)root) : 0;
    int code = tcp_share(world, root, bytes, sizeof bytes, "the shared bytes", error);
    if (code) quit(code, error);
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != (unsigned char)(i * 7 + (size_t)root)) abort();
    say("shared by", root);
}

static uint64_t agree(MeshGroup group, uint64_t mine) {
    char error[ERROR_BYTES];
    uint64_t out = 0;
    int code = tcp_agree(world, &group, mine, &out, "the agreement", error);
    if (code) quit(code, error);
    return out;
}

static MeshGroup everybody(void) { return mesh_line(0, 1, ranks, rank); }

static void many(int n) {
    for (int i = 0; i < n; i++) {
        uint64_t mine = (uint64_t)((rank + i) % ranks + i);
        if (agree(everybody(), mine) != (uint64_t)(ranks - 1 + i)) abort();
    }
    say("agreements", n);
}

static void watch(void) {
    static const WorldEvents events = {.state = state, .ended = ended, .user = &at};
    tcp_watch(world, &events);
}

static void spin(void) {
    char error[ERROR_BYTES];
    int code;
    while ((code = tcp_ended(world, error)) == 0) pause_ms(10);
    quit(code, error);
}

static void told(void) {
    while (!atomic_load(&over)) pause_ms(10);
    spin();
}

static bool step(const char *word, char **argument, int *used) {
    const char *first = argument[0] ? argument[0] : "";
    *used = 1;
    if (!strcmp(word, "compare")) {
        *used = argument[0] && strspn(first, "0123456789") > 0;
        compare(*used ? atoi(first) : 0);
    } else if (!strcmp(word, "share")) {
        share(atoi(first));
    } else if (!strcmp(word, "agree")) {
        say("agreed on", (long long)agree(everybody(), (uint64_t)atoi(first)));
    } else if (!strcmp(word, "split")) {
        MeshGroup half = mesh_line(rank % 2, 2, (ranks - rank % 2 + 1) / 2, rank / 2);
        say("half agreed on", (long long)agree(half, (uint64_t)atoi(first)));
    } else if (!strcmp(word, "many")) {
        many(atoi(first));
    } else if (!strcmp(word, "at")) {
        atomic_store(&at, atoi(first));
    } else if (!strcmp(word, "work")) {
        for (int ms = 0; ms < atoi(first); ms += 50, beats++) pause_ms(50);
    } else if (!strcmp(word, "sleep")) {
        pause_ms(atoi(first));
    } else if (!strcmp(word, "fail") && argument[0] && argument[1]) {
        quit(atoi(first), argument[1]);
    } else {
        *used = 0;
        if (!strcmp(word, "watch"))
            watch();
        else if (!strcmp(word, "spin"))
            spin();
        else if (!strcmp(word, "told"))
            told();
        else if (!strcmp(word, "ready"))
            say("ready", 0);
        else if (!strcmp(word, "kill"))
            raise(SIGKILL);
        else if (!strcmp(word, "stop"))
            raise(SIGSTOP);
        else if (!strcmp(word, "leave"))
            tcp_leave(world, true), world = NULL;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    char error[ERROR_BYTES];
    LaunchContext l;
    JoinOptions o = {.timeout = number("FSDP_TIMEOUT", 60)};
    int code = launch_detect(0, 1, &l, error);
    if (!code) code = launch_address(&l, &o, error);
    if (code) {
        fprintf(stderr, "error: %s\n", error);
        return code;
    }
    rank = o.rank = l.rank;
    ranks = o.ranks = l.ranks;
    o.launcher = l.launcher;
    o.local_rank = l.local_rank;
    o.local_ranks = l.local_ranks;
    o.test_hosts = number("FSDP_TEST_HOSTS", 0);
    o.identity += (uint64_t)number("IDENTITY", 0);
    if (argc == 2 && !strcmp(argv[1], "where")) {
        printf("%s: rank %d of %d, local %d, at %s port %d\n", l.launcher, rank, ranks,
               l.local_rank, o.address ? o.address : "-", o.port);
        return 0;
    }
    code = tcp_join(&o, &world, error);
    if (code) {
        fprintf(stderr, "error: %s\n", error);
        return code;
    }
    say("joined; ranks here:", tcp_local_ranks(world));
    for (int i = 1; i < argc; i++) {
        int used = 0;
        if (!step(argv[i], argv + i + 1, &used)) {
            fprintf(stderr, "error: no step %s\n", argv[i]);
            return EXIT_USER;
        }
        i += used;
    }
    if (world) tcp_leave(world, false);
    say("done", 0);
    return 0;
}

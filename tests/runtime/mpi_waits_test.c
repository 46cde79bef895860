/* What ranks of transport mpi know of each other's waits, without mpirun: what a host tells of its
 * ranks, and whom a rank names that has waited too long. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

static char error[ERROR_BYTES];

enum { RANKS = 4, HERE = 2, WORDS = 1 + HERE * (WAITS + 2) };

static World *world(int32_t locals) {
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->ranks = RANKS;
    w->locals = locals;
    w->timeout = 1;
    w->parent = getppid();
    w->alarm_request = MPI_REQUEST_NULL;
    w->process = calloc(RANKS, sizeof *w->process);
    w->local_rank = calloc(RANKS, sizeof *w->local_rank);
    w->board = calloc(1, sizeof *w->board + RANKS * sizeof *w->board->sign);
    for (int32_t r = 0; r < RANKS; r++) {
        w->local_rank[r] = r;
        w->process[r] = (MpiProcess){
            .pid = getpid(), .local = r < locals ? r : -1, .first = r - r % locals, .host = "node"};
    }
    return w;
}

static void world_end_of(World *w) {
    free(w->board);
    free(w->local_rank);
    free(w->process);
    free(w);
}

/* ---- an MPI between two hosts of which each hears what this one says */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int32_t *heard, last[WORDS];
static bool there;

int MPI_Isend(const void *at, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    (void)type, (void)to, (void)tag, (void)comm;
    pthread_mutex_lock(&lock);
    if (n != WORDS) abort();
    memcpy(last, at, sizeof last);
    there = true;
    pthread_mutex_unlock(&lock);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Irecv(void *at, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    (void)type, (void)from, (void)tag, (void)comm;
    if (n != WORDS) abort();
    heard = at;
    *request = (MPI_Request)&heard;
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    (void)status;
    pthread_mutex_lock(&lock);
    *done = *request == MPI_REQUEST_NULL || there;
    if (*request != MPI_REQUEST_NULL && there) memcpy(heard, last, sizeof last), there = false;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* Here the ranks of the other host, 2 and 3, do what those of this one do, 0 and 1. */
TEST(a_host_tells_what_each_of_its_ranks_waits_for) {
    World *w = world(HERE);
    Sign *sign = w->board->sign;
    for (int32_t r = 0; r < HERE; r++) {
        for (int i = 0; i < WAITS; i++) atomic_store(&sign[r].waits[i], 10 * (r + 1) + i);
        atomic_store(&sign[r].call, 0x700000000u * (unsigned)(r + 1) + 0x80000005u);
        atomic_store(&sign[HERE + r].silent, 3);
    }
    beats_begin(w);
    assert_true(w->beats);
    beats_end(w);
    for (int32_t r = 0; r < HERE; r++) {
        for (int i = 0; i < WAITS; i++)
            assert_int_equal(atomic_load(&sign[HERE + r].waits[i]), 10 * (r + 1) + i);
        assert_true(atomic_load(&sign[HERE + r].call) == atomic_load(&sign[r].call));
        assert_int_equal(atomic_load(&sign[HERE + r].silent), 0);
    }
    world_end_of(w);
}

/* ---- whom a rank names */

/* Rank 0 waits for rank 1. waits_for: 1 + the rank for which each waits, or 0. */
static void assert_named(const int32_t *waits_for, const char *name) {
    World *w = world(RANKS);
    Collective call = {.purpose = COMM_GATHER, .label = "unshard"};
    Wait wait = {.world = w, .call = &call, .slices = 1000 * SLICES_A_SECOND - 1};
    for (int32_t r = 1; r < RANKS; r++)
        atomic_store(&w->board->sign[r].waits[r % WAITS], waits_for[r]);
    assert_int_equal(world_slice(&wait, 1, error), EXIT_RANK);
    if (!strstr(error, name)) fail_msg("%s is not named: %s", name, error);
    world_end_of(w);
}

TEST(a_rank_that_waits_for_none_is_named) {
    assert_named((int32_t[]){0, 0, 0, 0}, "rank 1 (");
    assert_named((int32_t[]){0, 3, 0, 0}, "rank 2 (");
    assert_named((int32_t[]){0, 4, 0, 3}, "rank 2 (");
    assert_named((int32_t[]){0, 3, 4, 2}, "rank 1 ("); /* all wait: in a circle */
}

RUN_TESTS(NULL, NULL)

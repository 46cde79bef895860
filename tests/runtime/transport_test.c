/* Transport `local`: N threads, small integer data, so that sums are exact and every wrong or
 * missing contribution shows. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "local.h"
#include "test.h"
#include "transport.h"

enum { MAX_RANKS = 8, ROUNDS = 40, N = 1000, TIMEOUT = 3 };

static int fake_copy(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                     char *error) {
    (void)c, (void)stream, (void)error;
    memcpy(to, from, bytes);
    return 0;
}

static int fake_reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                       int n_from, int64_t elements, char *error) {
    (void)c, (void)stream, (void)error;
    for (int64_t i = 0; i < elements; i++) {
        if (dtype == DT_F32) {
            float sum = 0;
            for (int k = 0; k < n_from; k++) sum += ((const float *)from[k])[i];
            ((float *)to)[i] = sum;
        } else {
            int64_t sum = 0;
            for (int k = 0; k < n_from; k++) sum += ((const int64_t *)from[k])[i];
            ((int64_t *)to)[i] = sum;
        }
    }
    return 0;
}

static const Device fake_device = {.name = "fake", .copy = fake_copy, .reduce = fake_reduce};

static int forgetful_reduce(DeviceContext *c, int stream, int dtype, void *to,
                            const void *const *from, int n_from, int64_t elements, char *error) {
    return fake_reduce(c, stream, dtype, to, from, n_from - 1, elements, error);
}

static const Device forgetful_device = {
    .name = "forgetful", .copy = fake_copy, .reduce = forgetful_reduce};

typedef struct Peer {
    int rank, ranks, code;
    const Plan *plan;
    const Device *device;
    LocalWorld *world;
    TransportContext *context;
    void (*body)(struct Peer *p);
    bool bad;
    Pulse pulse;
    char error[ERROR_BYTES];
} Peer;

static void *peer_main(void *at) {
    Peer *p = at;
    TransportOptions o = {.plan = p->plan,
                          .device = p->device,
                          .rank = p->rank,
                          .ranks = p->ranks,
                          .pulse = &p->pulse,
                          .shared = p->world};
    p->code = transport_local.open(&o, &p->context, p->error);
    if (!p->code) p->body(p);
    return NULL;
}

/* Runs body on every rank; the result is whether a rank found something wrong. */
static bool with_device(const Device *device, const Plan *plan, int ranks, void (*body)(Peer *),
                        Peer *peer) {
    LocalWorld *w = local_world_new(plan, ranks, TIMEOUT);
    pthread_t thread[MAX_RANKS];
    bool bad = false;
    for (int r = 0; r < ranks; r++) {
        peer[r] = (Peer){
            .rank = r, .ranks = ranks, .plan = plan, .device = device, .world = w, .body = body};
        pthread_create(&thread[r], NULL, peer_main, &peer[r]);
    }
    for (int r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    for (int r = 0; r < ranks; r++) {
        bad |= peer[r].bad;
        transport_local.close(peer[r].context);
    }
    local_world_free(w);
    return bad;
}

static bool with_ranks(const Plan *plan, int ranks, void (*body)(Peer *), Peer *peer) {
    return with_device(&fake_device, plan, ranks, body, peer);
}

/* Where a collective has several buffers, a plan has to say so. */
static const PlanInstr widest = {.op = OP_all_reduce, .n_in = 2};

static void jitter(unsigned *seed) {
    struct timespec t = {.tv_nsec = rand_r(seed) % 30000};
    if (rand_r(seed) % 4 == 0) nanosleep(&t, NULL);
}

/* Rank r's element i of round t. */
static float value_of(int r, int t, int64_t i) { return (float)((r * 31 + t * 7 + i) % 97); }

static void gather_and_scatter(Peer *p) {
    const Transport *t = &transport_local;
    float *shard = calloc(N, 4), *full = calloc(N * MAX_RANKS, 4), *sum = calloc(N, 4);
    unsigned seed = (unsigned)p->rank;
    for (int round = 0; round < ROUNDS && !p->bad; round++) {
        for (int i = 0; i < N; i++) shard[i] = value_of(p->rank, round, i);
        CommBuffer b = {.in = shard, .out = full, .elements = N, .dtype = DT_F32};
        Collective c = {.kind = ALL_GATHER,
                        .axes = AXES_WORLD,
                        .sequence = (uint64_t)round,
                        .n = 1,
                        .buffer = &b};
        jitter(&seed);
        p->bad |= t->collect(p->context, &c, p->error) != 0;
        for (int r = 0; r < p->ranks; r++)
            for (int i = 0; i < N; i++) p->bad |= full[r * N + i] != value_of(r, round, i);
        for (int64_t i = 0; i < (int64_t)N * p->ranks; i++) full[i] = value_of(p->rank, round, i);
        b = (CommBuffer){.in = full, .out = sum, .elements = N, .dtype = DT_F32};
        c.kind = REDUCE_SCATTER;
        c.purpose = COMM_REDUCE;
        jitter(&seed);
        p->bad |= t->collect(p->context, &c, p->error) != 0;
        for (int i = 0; i < N; i++) {
            float want = 0;
            for (int r = 0; r < p->ranks; r++) want += value_of(r, round, p->rank * N + i);
            p->bad |= sum[i] != want;
        }
    }
    free(shard);
    free(full);
    free(sum);
}

TEST(everybody_has_everything) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    for (int ranks = 1; ranks <= MAX_RANKS; ranks += ranks < 4 ? 1 : 4)
        assert_false(with_ranks(&plan, ranks, gather_and_scatter, peer));
}

TEST(a_forgotten_rank_is_noticed) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    assert_true(with_device(&forgetful_device, &plan, 3, gather_and_scatter, peer));
}

/* One place for all ranks: who wrote a part is seen by everybody, and nobody writes the next
 * round's before all have read this one's. */
static float together[N * MAX_RANKS];
static void gather_into_one_place(Peer *p) {
    float shard[N];
    unsigned seed = (unsigned)p->rank + 5;
    for (int round = 0; round < ROUNDS && !p->bad; round++) {
        for (int i = 0; i < N; i++) shard[i] = value_of(p->rank, round, i);
        CommBuffer b = {.in = shard, .out = together, .elements = N, .dtype = DT_F32};
        Collective c = {.kind = ALL_GATHER,
                        .axes = AXES_WORLD,
                        .sequence = (uint64_t)round,
                        .shared = true,
                        .n = 1,
                        .buffer = &b};
        p->bad |= transport_local.collect(p->context, &c, p->error) != 0;
        jitter(&seed);
        for (int r = 0; r < p->ranks; r++)
            for (int i = 0; i < N; i++) p->bad |= together[r * N + i] != value_of(r, round, i);
    }
}

TEST(ranks_gather_into_one_place) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    for (int ranks = 1; ranks <= 4; ranks++)
        assert_false(with_ranks(&plan, ranks, gather_into_one_place, peer));
}

static void reduce_in_place(Peer *p) {
    float a[333];
    int64_t b[24];
    unsigned seed = (unsigned)p->rank + 9;
    for (int round = 0; round < ROUNDS && !p->bad; round++) {
        for (int i = 0; i < 333; i++) a[i] = value_of(p->rank, round, i);
        for (int i = 0; i < 24; i++) b[i] = (int64_t)p->rank << (i + 10);
        CommBuffer buffer[2] = {{a, a, 333, DT_F32, false}, {b, b, 24, DT_I64, false}};
        Collective c = {.kind = ALL_REDUCE,
                        .axes = AXES_WORLD,
                        .purpose = COMM_REDUCE,
                        .sequence = (uint64_t)round,
                        .n = 2,
                        .buffer = buffer};
        jitter(&seed);
        p->bad |= transport_local.collect(p->context, &c, p->error) != 0;
        int64_t ranks_sum = p->ranks * (p->ranks - 1) / 2;
        for (int i = 0; i < 333; i++) {
            float want = 0;
            for (int r = 0; r < p->ranks; r++) want += value_of(r, round, i);
            p->bad |= a[i] != want;
        }
        for (int i = 0; i < 24; i++) p->bad |= b[i] != ranks_sum << (i + 10);
    }
}

TEST(all_reduce_sums_every_buffer) {
    Plan plan = {.instrs = &widest, .n_instrs = 1};
    Peer peer[MAX_RANKS];
    for (int ranks = 1; ranks <= 4; ranks++)
        assert_false(with_ranks(&plan, ranks, reduce_in_place, peer));
}

/* Gathers the members of a rank's group, and compares them with the list; scatters the sums of the
 * gathered values. The second buffer has the parts backwards. */
static void along(Peer *p, AxisSet axes, int n, const int *members) {
    for (int round = 0; round < 2 * ROUNDS; round += 2) {
        float mine = (float)p->rank, all[2][MAX_RANKS] = {{-1, -1}}, sum[2];
        CommBuffer b[2] = {{&mine, all[0], 1, DT_F32, false}, {&mine, all[1], 1, DT_F32, true}};
        Collective c = {
            .kind = ALL_GATHER, .axes = axes, .sequence = (uint64_t)round, .n = 2, .buffer = b};
        p->bad |= transport_local.collect(p->context, &c, p->error) != 0;
        for (int k = 0; k < n; k++)
            p->bad |= all[0][k] != (float)members[k] || all[1][n - 1 - k] != (float)members[k];
        for (int i = 0; i < 2; i++) b[i].in = all[i], b[i].out = &sum[i];
        c.sequence++;
        c.kind = REDUCE_SCATTER;
        p->bad |= transport_local.collect(p->context, &c, p->error) != 0;
        p->bad |= sum[0] != (float)n * mine || sum[1] != (float)n * mine;
    }
}

/* Mesh [2, 3]: axis 0 joins ranks r and r + 3, axis 1 three neighbours, both all. */
static void along_axes(Peer *p) {
    int column = p->rank % 3, row = p->rank / 3 * 3;
    along(p, 1, 2, (int[]){column, column + 3});
    along(p, 2, 3, (int[]){row, row + 1, row + 2});
    along(p, 3, 6, (int[]){0, 1, 2, 3, 4, 5});
}

/* Mesh [2, 2, 2]: the outermost and the innermost axis together. */
static void along_distant_axes(Peer *p) {
    int first = p->rank & 2;
    along(p, 5, 4, (int[]){first, first + 1, first + 4, first + 5});
}

TEST(groups_follow_the_mesh) {
    PlanAxis axes[2] = {{.size = 2}, {.size = 3}};
    Plan plan = {.axes = axes, .n_axes = 2, .instrs = &widest, .n_instrs = 1};
    Peer peer[MAX_RANKS];
    assert_false(with_ranks(&plan, 6, along_axes, peer));
    PlanAxis cube[3] = {{.size = 2}, {.size = 2}, {.size = 2}};
    Plan three = {.axes = cube, .n_axes = 3, .instrs = &widest, .n_instrs = 1};
    assert_false(with_ranks(&three, 8, along_distant_axes, peer));
}

/* Two threads of each rank issue the two halves of a sequence; ranks do so in opposite orders. */
typedef struct Half {
    Peer *peer;
    int first;
    bool bad;
} Half;

static void *issue_half(void *at) {
    Half *h = at;
    for (int k = h->first; k < 20; k += 2) {
        float mine = (float)(h->peer->rank * 100 + k), all[MAX_RANKS];
        CommBuffer b = {&mine, all, 1, DT_F32, false};
        Collective c = {
            .kind = ALL_GATHER, .axes = AXES_WORLD, .sequence = (uint64_t)k, .n = 1, .buffer = &b};
        char error[ERROR_BYTES];
        h->bad |= transport_local.collect(h->peer->context, &c, error) != 0;
        for (int r = 0; r < h->peer->ranks; r++) h->bad |= all[r] != (float)(r * 100 + k);
    }
    return NULL;
}

static void from_two_threads(Peer *p) {
    Half half[2] = {{.peer = p, .first = p->rank % 2}, {.peer = p, .first = 1 - p->rank % 2}};
    pthread_t thread;
    pthread_create(&thread, NULL, issue_half, &half[0]);
    issue_half(&half[1]);
    pthread_join(thread, NULL);
    p->bad |= half[0].bad || half[1].bad;
}

TEST(numbers_decide_who_meets) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    assert_false(with_ranks(&plan, 3, from_two_threads, peer));
}

static void agree_or_leave(Peer *p) {
    uint64_t most = 0;
    Collective c = {.kind = AGREE, .axes = AXES_WORLD, .purpose = COMM_CONTROL};
    p->code = transport_local.agree(p->context, &c, (uint64_t)p->rank * 5, &most, p->error);
    p->bad |= p->code != 0 || most != (uint64_t)(p->ranks - 1) * 5;
    c.kind = BARRIER;
    c.sequence = 1;
    if (p->rank == 1)
        transport_local.abort(p->context);
    else
        p->code = transport_local.agree(p->context, &c, 0, NULL, p->error);
}

TEST(abort_ends_all) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    assert_false(with_ranks(&plan, 3, agree_or_leave, peer));
    assert_int_equal(peer[0].code, EXIT_RANK);
    assert_int_equal(peer[2].code, EXIT_RANK);
}

static void disagree(Peer *p) {
    float a[4] = {0}, b[16];
    CommBuffer buffer = {a, b, p->rank ? 4 : 3, DT_F32, false};
    Collective c = {.kind = ALL_GATHER, .axes = AXES_WORLD, .n = 1, .buffer = &buffer};
    p->code = transport_local.collect(p->context, &c, p->error);
}

TEST(different_sizes_are_a_failure) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    with_ranks(&plan, 2, disagree, peer);
    assert_int_equal(peer[0].code, EXIT_RANK);
    assert_int_equal(peer[1].code, EXIT_RANK);
}

/* Mesh [2, 2]. Rank 0 waits for rank 1 along one axis, rank 1 for rank 3 along the other one, rank
 * 2 for rank 3, and rank 3 comes when all is over. */
static void chain(Peer *p) {
    static const AxisSet axes[4] = {2, 1, 2, 1};
    struct timespec late = {.tv_sec = TIMEOUT + 3};
    if (p->rank == 3) nanosleep(&late, NULL);
    float mine = 0, all[2];
    CommBuffer b = {&mine, all, 1, DT_F32, false};
    Collective c = {
        .kind = ALL_GATHER, .axes = axes[p->rank], .n = 1, .buffer = &b, .label = "here"};
    p->code = transport_local.collect(p->context, &c, p->error);
}

TEST(who_stands_still_is_named_not_who_waits) {
    PlanAxis axes[2] = {{.size = 2}, {.size = 2}};
    Plan plan = {.axes = axes, .n_axes = 2};
    Peer peer[MAX_RANKS];
    with_ranks(&plan, 4, chain, peer);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(peer[r].code, EXIT_RANK);
        assert_non_null(strstr(peer[r].error, "rank 3 made no progress for 3 s"));
        assert_string_equal(peer[r].error, peer[0].error);
    }
}

/* The same while rank 3 works. */
static void busy_chain(Peer *p) {
    static const AxisSet axes[4][2] = {{2}, {1, 2}, {2}, {1, 2}};
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    atomic_store(&p->pulse.clock, clock);
    int64_t end = monotonic_ms() + 1000 * (TIMEOUT + 3);
    while (p->rank == 3 && monotonic_ms() < end) continue;
    float mine = 0, all[2];
    CommBuffer b = {&mine, all, 1, DT_F32, false};
    for (int k = 0; k < 2 && axes[p->rank][k] && !p->code; k++) {
        Collective c = {
            .kind = ALL_GATHER, .axes = axes[p->rank][k], .n = 1, .buffer = &b, .label = "here"};
        p->code = transport_local.collect(p->context, &c, p->error);
    }
}

TEST(who_waits_for_one_that_works_does_not_stand_still) {
    PlanAxis axes[2] = {{.size = 2}, {.size = 2}};
    Plan plan = {.axes = axes, .n_axes = 2};
    Peer peer[MAX_RANKS];
    with_ranks(&plan, 4, busy_chain, peer);
    for (int r = 0; r < 4; r++) assert_string_equal(peer[r].error, "");
}

/* Rank 1 waits first, then rank 0; rank 2 comes when all is over. */
static void one_after_the_other(Peer *p) {
    static const long late_ms[] = {300, 0, 1000 * (TIMEOUT + 3)};
    struct timespec late = {.tv_sec = late_ms[p->rank] / 1000,
                            .tv_nsec = late_ms[p->rank] % 1000 * 1000000};
    nanosleep(&late, NULL);
    float mine = 0, all[3];
    CommBuffer b = {&mine, all, 1, DT_F32, false};
    Collective c = {.kind = ALL_GATHER, .axes = AXES_WORLD, .n = 1, .buffer = &b, .label = "here"};
    p->code = transport_local.collect(p->context, &c, p->error);
}

TEST(who_waits_does_not_depend_on_who_came_first) {
    Plan plan = {0};
    Peer peer[MAX_RANKS];
    with_ranks(&plan, 3, one_after_the_other, peer);
    assert_non_null(strstr(peer[1].error, "rank 2 made no progress for 3 s"));
    assert_non_null(strstr(peer[1].error, "rank 0 waits for it"));
}

RUN_TESTS(NULL, NULL)

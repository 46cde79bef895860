/* A rank of transport mpi without a plan, started through mpirun: MODULE HOSTS SIZE... The ranks
 * form a mesh of these sizes, divided as if they were on HOSTS hosts. The data are small integers,
 * so that sums are exact and every wrong or missing contribution shows. Along each set of axes
 * every collective runs several times; then some run in which the last member's arguments
 * differ. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "transport.h"

enum { BUFFERS = 3, ROUNDS = 6, ARENA = 16 << 20 };

static char error[ERROR_BYTES];
static int32_t rank, ranks;
static const Transport *transport;
static TransportContext *context;
static Plan plan;
static char *arena;

static void must(bool good, const char *what, const Collective *c) {
    if (good) return;
    fprintf(stderr, "rank %d: %s, axes %x, number %llu: %s\n", rank, what, c ? c->axes : 0,
            c ? (unsigned long long)c->sequence : 0, error);
    exit(1);
}

static int fake_copy(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                     char *why) {
    (void)c, (void)stream, (void)why;
    memcpy(to, from, bytes);
    return 0;
}

static int fake_reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                       int n_from, int64_t elements, char *why) {
    (void)c, (void)stream, (void)why;
    for (int64_t i = 0; i < elements; i++) {
        double sum = 0;
        for (int k = 0; k < n_from; k++)
            sum += dtype == DT_F32 ? (double)((const float *)from[k])[i]
                                   : (double)((const int64_t *)from[k])[i];
        if (dtype == DT_F32)
            ((float *)to)[i] = (float)sum;
        else
            ((int64_t *)to)[i] = (int64_t)sum;
    }
    return 0;
}

static const Device device = {
    .name = "fake", .copy = fake_copy, .reduce = fake_reduce, .arena_is_host = true};

static int64_t value_of(int32_t r, uint64_t round, int64_t i) {
    return (r * 31 + (int64_t)round * 7 + i) % 97;
}

static void put(const CommBuffer *b, void *at, int64_t i, int64_t value) {
    if (b->dtype == DT_F32)
        ((float *)at)[i] = (float)value;
    else
        ((int64_t *)at)[i] = value;
}

static int64_t get(const CommBuffer *b, int64_t i) {
    return b->dtype == DT_F32 ? (int64_t)((float *)b->out)[i] : ((int64_t *)b->out)[i];
}

/* Buffers of these lengths one after the other; `in` and `out` of so many elements each. The last
 * one has parts backwards. */
static void lay(CommBuffer *b, const int64_t *length, int64_t in, int64_t out) {
    char *at = arena;
    for (int i = 0; i < BUFFERS; i++) {
        b[i] = (CommBuffer){.elements = length[i],
                            .dtype = i == 1 ? DT_I64 : DT_F32,
                            .backwards = i == BUFFERS - 1};
        int64_t bytes = (int64_t)align_up(dtype_bytes(b[i].dtype) * (uint64_t)length[i], 8);
        b[i].in = at;
        at += bytes * in;
        b[i].out = at;
        at += bytes * out;
    }
    must(at <= arena + ARENA, "the arena is too small", NULL);
}

static void gather(Collective *c, const MeshGroup *g, CommBuffer *b, const int64_t *length) {
    lay(b, length, 1, g->size);
    c->purpose = COMM_GATHER;
    for (int j = 0; j < BUFFERS; j++)
        for (int64_t i = 0; i < b[j].elements; i++)
            put(&b[j], (void *)b[j].in, i, value_of(rank, c->sequence, i));
    c->kind = ALL_GATHER;
    must(!transport->collect(context, c, error), "all_gather", c);
    for (int j = 0; j < BUFFERS; j++)
        for (int64_t i = 0; i < b[j].elements * g->size; i++)
            must(get(&b[j], i) ==
                     value_of(
                         mesh_member(g, comm_part(&b[j], (int32_t)(i / b[j].elements), g->size)),
                         c->sequence, i % b[j].elements),
                 "gathered", c);
}

static int64_t sum_of(const MeshGroup *g, uint64_t round, int64_t i) {
    int64_t sum = 0;
    for (int32_t k = 0; k < g->size; k++) sum += value_of(mesh_member(g, k), round, i);
    return sum;
}

static void scatter(Collective *c, const MeshGroup *g, CommBuffer *b, const int64_t *length) {
    lay(b, length, g->size, 1);
    c->purpose = COMM_REDUCE;
    for (int j = 0; j < BUFFERS; j++)
        for (int64_t i = 0; i < b[j].elements * g->size; i++)
            put(&b[j], (void *)b[j].in, i, value_of(rank, c->sequence, i));
    c->kind = REDUCE_SCATTER;
    must(!transport->collect(context, c, error), "reduce_scatter", c);
    for (int j = 0; j < BUFFERS; j++)
        for (int64_t i = 0; i < b[j].elements; i++)
            must(get(&b[j], i) == sum_of(g, c->sequence,
                                         comm_part(&b[j], g->index, g->size) * b[j].elements + i),
                 "summed", c);
}

static void reduce(Collective *c, const MeshGroup *g, CommBuffer *b, const int64_t *length) {
    lay(b, length, 1, 1);
    c->purpose = COMM_CONTROL;
    for (int j = 0; j < BUFFERS; j++) {
        b[j].in = b[j].out;
        b[j].backwards = false;
        for (int64_t i = 0; i < b[j].elements; i++)
            put(&b[j], b[j].out, i, value_of(rank, c->sequence, i));
    }
    c->kind = ALL_REDUCE;
    must(!transport->collect(context, c, error), "all_reduce", c);
    for (int j = 0; j < BUFFERS; j++)
        for (int64_t i = 0; i < b[j].elements; i++)
            must(get(&b[j], i) == sum_of(g, c->sequence, i), "reduced", c);
    c->sequence++;
}

static void decide(Collective *c, const MeshGroup *g) {
    uint64_t most = 0, want = 0;
    c->n = 0;
    c->kind = AGREE;
    for (int32_t k = 0; k < g->size; k++)
        want = MAX(want, (uint64_t)value_of(mesh_member(g, k), c->sequence, 0) << 40);
    must(
        !transport->agree(context, c, (uint64_t)value_of(rank, c->sequence, 0) << 40, &most, error),
        "agree", c);
    must(most == want, "agreed", c);
    c->sequence++;
    c->kind = BARRIER;
    must(!transport->agree(context, c, 0, NULL, error), "barrier", c);
    c->sequence++;
    c->n = BUFFERS;
}

/* The first lengths are below and above what a rank sums at once; the last ones are sent in pieces.
 */
static void everything(AxisSet axes) {
    static const int64_t length[][BUFFERS] = {{1, 3, 64}, {333, 0, 65}, {7, 130, 1}};
    static const int64_t large[BUFFERS] = {400000, 5, 1000};
    MeshGroup g = comm_group(&plan, ranks, axes, rank);
    CommBuffer b[BUFFERS];
    uint64_t control = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        bool last = axes == AXES_WORLD && round == ROUNDS - 1;
        const int64_t *n = last ? large : length[round % 3];
        Collective c = {
            .axes = axes, .sequence = round, .n = BUFFERS, .buffer = b, .label = "here"};
        gather(&c, &g, b, n);
        scatter(&c, &g, b, n);
        c.sequence = control;
        reduce(&c, &g, b, n);
        decide(&c, &g);
        control = c.sequence;
    }
}

/* A rank sees the arenas of its host, which are those of these ranks. */
static void see_neighbours(int32_t here) {
    Collective c = {
        .kind = BARRIER, .axes = AXES_WORLD, .purpose = COMM_CONTROL, .sequence = 3 * ROUNDS};
    int32_t seen = 0;
    memcpy(arena, &rank, sizeof rank);
    must(!transport->agree(context, &c, 0, NULL, error), "barrier", &c);
    for (int32_t r = 0; r < ranks; r++) {
        const char *its = transport->peer_arena(context, r);
        seen += its != NULL;
        must(its || r != rank, "own arena", NULL);
        must(!its || !memcmp(its, &r, sizeof r), "arena of a neighbour", NULL);
    }
    must(seen == here, "neighbours", NULL);
}

/* The last member of each group brings something else; all of a host's learn it. */
static void differ(AxisSet axes, int what) {
    MeshGroup g = comm_group(&plan, ranks, axes, rank);
    bool other = g.index == g.size - 1;
    CommBuffer b[2] = {{arena, arena + 4096, 3, DT_F32, false},
                       {arena, arena + 8192, 3, DT_F32, false}};
    bool meets = other && what == 3;
    Collective c = {.kind = meets       ? BARRIER
                            : what == 0 ? ALL_GATHER
                            : what == 1 ? REDUCE_SCATTER
                                        : ALL_REDUCE,
                    .axes = axes,
                    .purpose = what == 0   ? COMM_GATHER
                               : what == 1 ? COMM_REDUCE
                                           : COMM_CONTROL,
                    .sequence = what < 2 ? ROUNDS : 3 * ROUNDS + (axes == AXES_WORLD),
                    .n = 1,
                    .buffer = b,
                    .label = "here"};
    if (other && what == 0) b[0].elements = 4;
    if (other && what == 1) b[0].dtype = DT_I32;
    if (other && what == 2) c.n = 2;
    int code = meets ? transport->agree(context, &c, 0, NULL, error)
                     : transport->collect(context, &c, error);
    static const char *const name[] = {"all_gather", "reduce_scatter", "all_reduce", "all_reduce"};
    const char *mine = meets ? "barrier" : name[what];
    const char *its = !other && what == 3 ? "barrier" : name[what];
    char want[200];
    snprintf(want, sizeof want, "ranks disagree: %s (here) on rank %d meets %s on rank %d%s", mine,
             rank, its, mesh_member(&g, other ? 0 : g.size - 1),
             what < 3 ? " with different sizes" : "");
    must(code == EXIT_RANK, "not refused", &c);
    must(!strcmp(error, want), want, &c);
}

int main(int argc, char **argv) {
    PlanAxis axes[MESH_AXES] = {{0}};
    PlanInstr widest = {.op = OP_unshard, .n_in = BUFFERS};
    plan = (Plan){.axes = axes, .instrs = &widest, .n_instrs = 1};
    for (int i = 3; i < argc; i++) axes[plan.n_axes++].size = atoi(argv[i]);
    void *module = dlopen(argv[1], RTLD_NOW);
    void *symbol = module ? dlsym(module, TRANSPORT_ENTRY) : NULL;
    TransportEntry entry;
    if (!symbol) fprintf(stderr, "%s\n", dlerror());
    must(symbol && plan.n_axes, "arguments", NULL);
    memcpy(&entry, &symbol, sizeof entry);
    rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    JoinOptions join = {.launcher = "Open MPI",
                        .rank = rank,
                        .ranks = ranks,
                        .timeout = 60,
                        .test_hosts = atoi(argv[2])};
    TransportOptions o = {.plan = &plan, .device = &device, .rank = rank, .ranks = ranks};
    TransportWorld *world;
    must(!entry()->join(&join, &world, error), "join", NULL);
    o.shared = world;
    transport = entry()->transport;
    must(!transport->open(&o, &context, error), "open", NULL);
    must(!transport->arena_alloc(context, ARENA, (void **)&arena, error), "arena", NULL);
    for (AxisSet set = 1; set < 1u << plan.n_axes; set++) everything(set);
    everything(AXES_WORLD);
    see_neighbours(entry()->local_ranks(world));
    bool one_host = entry()->local_ranks(world) == ranks;
    /* A communicator in which ranks have differed is used no more. */
    for (int what = 0; what < 3 && one_host; what++) differ(1, what);
    if (one_host) differ(AXES_WORLD, 3);
    transport->arena_free(context, arena);
    transport->close(context);
    entry()->leave(world, true);
    if (rank == 0) printf("%d ranks on %s\n", ranks, one_host ? "one host" : "several");
    return 0;
}

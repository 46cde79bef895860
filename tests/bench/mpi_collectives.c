/* Times the collectives of transport mpi and those of Open MPI alternately, and prints one line per
 * collective: the median milliseconds of both and their ratio. Started by tests/bench/mpi through
 * mpirun; arguments: the folder of the modules, MiB of the full side, rounds.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

enum { MAX_ROUNDS = 1000 };

static char error[ERROR_BYTES];
static int rank, ranks;

static void must(int code) {
    if (!code) return;
    fprintf(stderr, "error: rank %d: %s\n", rank, error);
    exit(code);
}

static void *entry_of(const char *folder, const char *file, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = module ? dlsym(module, name) : NULL;
    if (!symbol) snprintf(error, sizeof error, "%s", dlerror());
    must(symbol ? 0 : EXIT_ENVIRONMENT);
    return symbol;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median over rounds of the slowest rank, in ms. */
static double median(double *seconds, int rounds) {
    MPI_Allreduce(MPI_IN_PLACE, seconds, rounds, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, (size_t)rounds, sizeof *seconds, by_time);
    return 1e3 * seconds[rounds / 2];
}

typedef struct Bench {
    const Transport *transport;
    TransportContext *context;
    Collective call;
    CommBuffer buffer;
    float *full, *shard, *mpi_full, *mpi_shard;
    int64_t n; /* elements of a shard */
} Bench;

static void ours(Bench *b, bool gather) {
    b->buffer = gather ? (CommBuffer){b->shard, b->full, b->n, DT_F32, false}
                       : (CommBuffer){b->full, b->shard, b->n, DT_F32, false};
    b->call.purpose = gather ? COMM_GATHER : COMM_REDUCE;
    b->call.kind = gather ? ALL_GATHER : REDUCE_SCATTER;
    must(b->transport->collect(b->context, &b->call, error));
}

static void theirs(Bench *b, bool gather) {
    if (gather)
        MPI_Allgather(b->mpi_shard, (int)b->n, MPI_FLOAT, b->mpi_full, (int)b->n, MPI_FLOAT,
                      MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter_block(b->mpi_full, b->mpi_shard, (int)b->n, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
}

static void compare(Bench *b, bool gather, int rounds) {
    double mine[MAX_ROUNDS], mpi[MAX_ROUNDS];
    for (int i = -2; i < rounds; i++) {
        for (int own = 0; own < 2; own++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begun = MPI_Wtime();
            own ? ours(b, gather) : theirs(b, gather);
            double seconds = MPI_Wtime() - begun;
            if (i >= 0) (own ? mine : mpi)[i] = seconds;
        }
        b->call.sequence++;
    }
    if (!gather && memcmp(b->shard, b->mpi_shard, (size_t)b->n * sizeof(float)))
        must((snprintf(error, sizeof error, "the sums differ"), EXIT_RANK));
    double a = median(mine, rounds), m = median(mpi, rounds);
    if (rank == 0)
        printf("%-15s ours %7.2f ms   Open MPI %7.2f ms   Open MPI / ours %5.2f\n",
               gather ? "all_gather" : "reduce_scatter", a, m, m / a);
}

int main(int argc, char **argv) {
    if (argc != 4) return EXIT_USER;
    int rounds = MIN(MAX(atoi(argv[3]), 1), MAX_ROUNDS);
    void *at = entry_of(argv[1], "transport_mpi.so", TRANSPORT_ENTRY);
    TransportEntry transport;
    memcpy(&transport, &at, sizeof transport);
    at = entry_of(argv[1], "device_cpu.so", DEVICE_ENTRY);
    DeviceEntry device;
    memcpy(&device, &at, sizeof device);
    rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    const TransportModule *m = transport();
    JoinOptions join = {.launcher = "Open MPI", .rank = rank, .ranks = ranks, .timeout = 60};
    TransportWorld *world;
    must(m->join(&join, &world, error));
    Plan plan = {0};
    DeviceOptions d = {.rank = {.plan = &plan, .rank = rank, .threads = 1}};
    DeviceContext *cpu;
    must(device()->open(&d, &cpu, error));
    TransportOptions o = {.plan = &plan,
                          .device = device(),
                          .context = cpu,
                          .rank = rank,
                          .ranks = ranks,
                          .shared = world};
    Bench b = {.transport = m->transport};
    must(b.transport->open(&o, &b.context, error));
    b.n = (int64_t)atoi(argv[2]) * (1 << 18) / ranks;
    uint64_t shard = (uint64_t)b.n * sizeof(float), full = shard * (uint64_t)ranks;
    void *arena;
    must(b.transport->arena_alloc(b.context, full + shard, &arena, error));
    b.full = arena;
    b.shard = b.full + b.n * ranks;
    b.mpi_full = malloc(full);
    b.mpi_shard = malloc(shard);
    if (!b.mpi_full || !b.mpi_shard) return EXIT_ENVIRONMENT;
    b.call = (Collective){.axes = AXES_WORLD, .n = 1, .buffer = &b.buffer, .label = "bench"};
    for (int64_t i = 0; i < b.n; i++) b.shard[i] = b.mpi_shard[i] = (float)((i + rank) % 512);
    compare(&b, true, rounds);
    b.call.sequence = 0;
    compare(&b, false, rounds);
    m->leave(world, true);
    return 0;
}

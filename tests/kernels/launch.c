#include "kernels/launch.h"
#include "device_module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *launch_module;
const Plan *launch_plan;
Mesh launch_mesh;
int32_t launch_rank;
static const Device *device;
static DeviceContext *context;
/* Of a device whose memory is not the host's: operands and results lie there during a launch. */
enum { ARENA = 64 << 20, APART = 256 };
static void *arena;

bool launch_open(const char *isa, const char *product) {
    char error[ERROR_BYTES];
    launch_close();
    device = launch_module ? device_needed(launch_module) : device_cpu();
    device_choose("FSDP_CPU_ISA", isa);
    device_choose("FSDP_CPU_MATMUL", product);
    DeviceOptions options = {.rank = {.threads = 2}, .plan_path = ""};
    if (device->open(&options, &context, error)) return false;
    return device->arena_is_host || !device->arena_alloc(context, ARENA, &arena, error);
}

void launch_close(void) {
    if (arena) device->arena_free(context, arena);
    arena = NULL;
    if (context) device->close(context);
    context = NULL;
}

static uint32_t random_state = 1;
static uint32_t next_random(void) { return random_state = random_state * 1664525u + 1013904223u; }

static Tensor empty(int dtype, int64_t rows, int64_t width) {
    Tensor t = {.type = {.dtype = (uint8_t)dtype, .rank = rows && width ? 2 : 1}};
    if (rows) t.type.dim[0] = rows;
    if (width) t.type.dim[rows ? 1 : 0] = width;
    t.at = calloc(1, (size_t)type_bytes(&t.type));
    CHECK(t.at != NULL);
    return t;
}

Tensor tensor(int dtype, int64_t rows, int64_t width) {
    Tensor t = empty(dtype, rows, width);
    for (int64_t i = 0; i < type_elements(&t.type); i++) {
        float x = (float)(int32_t)next_random() * 0x1p-29f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        if (dtype == DT_F32) ((uint32_t *)t.at)[i] = bits;
        if (dtype == DT_BF16) ((uint16_t *)t.at)[i] = (uint16_t)(bits >> 16);
        if (dtype == DT_I32) ((int32_t *)t.at)[i] = (int32_t)(next_random() >> 8) % 5;
    }
    return t;
}

Tensor tensor_of(int64_t rows, int64_t width, const float *values) {
    Tensor t = empty(DT_F32, rows, width);
    memcpy(t.at, values, (size_t)type_bytes(&t.type));
    return t;
}

Tensor ids_of(int64_t n, const int32_t *values) {
    Tensor t = empty(DT_I32, n, 0);
    memcpy(t.at, values, (size_t)type_bytes(&t.type));
    return t;
}

Tensor words(void) { return empty(DT_I64, 0, EXACT_WORDS); }

double words_value(Tensor t) {
    double sum = 0;
    for (int k = 0; k < EXACT_BINS; k++)
        sum += ldexp((double)((int64_t *)t.at)[k], k * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    return sum;
}

enum { MOST = 8 };

static void *next_in_arena(uint64_t *used, const Type *t) {
    char *at = (char *)arena + *used;
    *used = align_up(*used + (uint64_t)type_bytes(t), APART);
    CHECK(*used <= ARENA);
    return at;
}

/* The workspace is in the rest of the arena. */
static bool launch_in_arena(const KernelCall *call, char error[ERROR_BYTES]) {
    KernelCall c = *call;
    const void *in[MOST];
    void *out[MOST];
    uint64_t used = 0;
    bool good = true;
    for (uint32_t i = 0; i < c.n_in && good; i++) {
        void *at = next_in_arena(&used, c.in_type[i]);
        good = !device->copy_in(context, STREAM_COMPUTE, at, c.in[i],
                                (uint64_t)type_bytes(c.in_type[i]), error);
        in[i] = at;
    }
    for (uint32_t j = 0; j < c.n_out; j++) out[j] = next_in_arena(&used, c.out_type[j]);
    CHECK(used + c.workspace_bytes <= ARENA);
    c.in = in;
    c.out = out;
    c.workspace = (char *)arena + used;
    good = good && !device->launch(context, STREAM_COMPUTE, &c, error);
    for (uint32_t j = 0; j < c.n_out && good; j++)
        good = !device->copy_out(context, STREAM_COMPUTE, call->out[j], out[j],
                                 (uint64_t)type_bytes(c.out_type[j]), error);
    return good && !device->synchronize(context, error);
}

bool try_run(OpKind op, Attrs a, int n_in, const Tensor *in, int n_out, const Tensor *out,
             char error[ERROR_BYTES]) {
    RankInfo rank = {.threads = 2, .plan = launch_plan, .rank = launch_rank, .mesh = launch_mesh};
    const Placement *in_placed[MOST], *out_placed[MOST];
    const void *from[MOST];
    void *to[MOST];
    const Type *in_type[MOST], *out_type[MOST];
    Type in_types[MOST], out_types[MOST];
    for (int i = 0; i < n_in; i++) {
        from[i] = in[i].at;
        in_type[i] = &in[i].type;
        in_types[i] = in[i].type;
        in_placed[i] = in[i].placed;
    }
    for (int j = 0; j < n_out; j++) {
        to[j] = out[j].at;
        out_type[j] = &out[j].type;
        out_types[j] = out[j].type;
        out_placed[j] = out[j].placed;
    }
    int64_t scratch = op_workspace(op, device->kind, &a, n_in, in_types, n_out, out_types);
    KernelCall call = {.rank = &rank,
                       .op = op,
                       .attr = &a,
                       .n_in = (uint32_t)n_in,
                       .n_out = (uint32_t)n_out,
                       .in = from,
                       .out = to,
                       .in_type = in_type,
                       .out_type = out_type,
                       .workspace = malloc((size_t)scratch + 1),
                       .workspace_bytes = (uint64_t)scratch,
                       .in_placed = in_placed,
                       .out_placed = out_placed};
    CHECK(call.workspace != NULL);
    bool ran = arena ? launch_in_arena(&call, error)
                     : !device->launch(context, STREAM_COMPUTE, &call, error);
    free(call.workspace);
    return ran;
}

void run(OpKind op, Attrs a, int n_in, const Tensor *in, int n_out, const Tensor *out) {
    char error[ERROR_BYTES];
    if (!try_run(op, a, n_in, in, n_out, out, error)) fail_environment("%s", error);
}

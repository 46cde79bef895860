/* The arena as NCCL's memory, which its kernels may read and write in place on all ranks.
 *
 * Addresses of a plan are offsets in the arena and the same on all ranks of a stage, as symmetric
 * windows require. Each communicator of its programs gets its own registration of the whole arena;
 * checkpoints, sums over stages and messages do without. All ranks must register alike, so they
 * agree after each attempt: a window, else a registered buffer, else plain memory. A communicator
 * on which a window failed is broken, so the next attempt makes new ones.
 *
 * On a machine without direct access between its GPUs NCCL takes a window as a registered buffer;
 * it does not say so.
 */

#include "context.h"

#define HAS_WINDOWS (NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 3))

static bool registers_arena(const Context *c, const Communicator *m) {
    Mesh mesh = plan_mesh(c->o.plan);
    bool stages = m->axes & mesh_stage_axes(&mesh);
    return m->used && m->comm && m->purpose < COMM_PURPOSES && !stages;
}

static int register_window(Context *c, Communicator *m, void *arena, uint64_t bytes, char *error) {
#if HAS_WINDOWS
    static const char what[] = "a window for the arena";
    int code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t r = ncclCommWindowRegister(m->comm, arena, bytes, (ncclWindow_t *)&m->window,
                                            NCCL_WIN_COLL_SYMMETRIC);
    nccl_leave(c);
    if (!nccl_is_fine(r)) return nccl_failed(what, r, error);
    code = communicator_settle(c, m, what, c->timeout, error);
    if (code || m->window) return code;
    return fail_with(error, EXIT_ENVIRONMENT, "%s: NCCL returned none", what);
#else
    (void)c, (void)m, (void)arena, (void)bytes;
    return fail_with(error, EXIT_ENVIRONMENT, "this NCCL does not support windows");
#endif
}

static int register_buffer(Context *c, Communicator *m, void *arena, uint64_t bytes, char *error) {
    static const char what[] = "the arena as a registered buffer";
    int code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t r = ncclCommRegister(m->comm, arena, bytes, &m->window);
    nccl_leave(c);
    return r == ncclSuccess ? 0 : nccl_failed(what, r, error);
}

static int register_all(Context *c, Registration kind, void *arena, uint64_t bytes, char *error) {
    int code = 0;
    for (uint32_t r = 0; r < c->rows && !code; r++) {
        Communicator *m = &c->row[r];
        m->window = NULL;
        if (!registers_arena(c, m) || kind == REGISTRATION_NONE) continue;
        code = kind == REGISTRATION_WINDOW ? register_window(c, m, arena, bytes, error)
                                           : register_buffer(c, m, arena, bytes, error);
    }
    return code;
}

static int register_arena(Context *c, void *arena, uint64_t bytes, char *error) {
    MeshGroup all = comm_group(c->o.plan, c->o.ranks, AXES_WORLD, c->o.rank);
    for (Registration kind = HAS_WINDOWS ? REGISTRATION_WINDOW : REGISTRATION_BUFFER;; kind++) {
        uint64_t failed = 0;
        int code = register_all(c, kind, arena, bytes, error);
        if (guard_check(c, error)) return EXIT_RANK;
        code = tcp_agree(c->world, &all, code != 0, &failed, "the arena's registration", error);
        if (code) return code;
        if (!failed) {
            bool any = false;
            for (uint32_t r = 0; r < c->rows; r++) any = any || c->row[r].window;
            c->registration = any ? kind : REGISTRATION_NONE;
            return 0;
        }
        communicators_abort(c);
        code = communicators_open(c, error);
        if (code) return code;
    }
}

static int allocate_arena(Context *c, uint64_t bytes, void **out, char *error) {
    uint64_t have = gpu_free_bytes();
    int code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t r = ncclMemAlloc(out, bytes);
    nccl_leave(c);
    if (r != ncclSuccess) {
        cudaGetLastError(); /* the failure is reported here, later calls must not find it */
        if (have >= bytes) return nccl_failed("the arena", r, error);
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "the plan needs an arena of %llu bytes per rank, the GPU has %llu bytes free; NCCL "
            "took %llu before",
            (unsigned long long)bytes, (unsigned long long)have, (unsigned long long)c->bytes);
    }
    cudaError_t e = cudaMemset(*out, 0, bytes);
    if (!e) e = cudaDeviceSynchronize();
    return cuda_result(e, "the arena", error);
}

int arena_open(Context *c, uint64_t bytes, void **out, char *error) {
    int code = allocate_arena(c, bytes, out, error);
    if (code) return code;
    uint64_t before = gpu_free_bytes();
    code = register_arena(c, *out, bytes, error);
    count_bytes_since(c, before);
    if (!code) atomic_store(&c->watches, true);
    return code;
}

/* Recordings hold operations on the arena; they end before it does. */
void arena_close(Context *c, void *arena) {
    char error[ERROR_BYTES];
    int code = c->o.device->program_forget(c->o.context, error);
    for (uint32_t r = 0; r < c->rows && !code; r++) {
        Communicator *m = &c->row[r];
        if (!registers_arena(c, m) || !m->window) continue;
        code = nccl_enter(c, error);
        if (code) return;
#if HAS_WINDOWS
        if (c->registration == REGISTRATION_WINDOW)
            ncclCommWindowDeregister(m->comm, m->window);
        else
#endif
            ncclCommDeregister(m->comm, m->window);
        m->window = NULL;
        nccl_leave(c);
    }
    if (!code && !nccl_enter(c, error)) {
        ncclMemFree(arena);
        nccl_leave(c);
    }
}

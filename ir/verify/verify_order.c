/* Gathers and fetches run no further ahead than the list says (sched-9).
 *
 * In: a program of level sched, its edges ascending (sched-4). Where it has edges at all, pass
 * `edges` has been here, and a gather or fetch must happen after all the work of stream compute
 * that is issued before it. Happens-before is order on a stream and edges: every op has a clock,
 * how many ops of each stream have finished whenever it starts. Data and tokens are not looked at:
 * what they require must be edges, and plan_check proves that.
 */
#include "verify.h"

typedef uint32_t Clock[STREAM_KINDS];

typedef struct StreamOrder {
    Verify *v;
    Clock *clock; /* by op of the program */
    uint32_t *on; /* by op of the program: its number on its stream, from 1 */
} StreamOrder;

static bool has_edges(const Verify *v) {
    for (uint32_t k = 0; k < v->program->ops.n; k++)
        if (verify_op(v, k)->n_edge) return true;
    return false;
}

/* Fills the clock of op k, whose stream has finished what `before` says. */
static void set_clock(StreamOrder *o, uint32_t k, const Clock before) {
    const Op *op = verify_op(o->v, k);
    uint32_t *clock = o->clock[k];
    for (int s = 0; s < STREAM_KINDS; s++) clock[s] = before[s];
    for (uint32_t i = 0; i < op->n_edge; i++) {
        uint32_t other = o->v->op_number[op->edge[i]] - o->v->first_number;
        for (int s = 0; s < STREAM_KINDS; s++) clock[s] = MAX(clock[s], o->clock[other][s]);
        uint8_t stream = verify_op(o->v, other)->stream;
        clock[stream] = MAX(clock[stream], o->on[other]);
    }
}

void verify_order(Verify *v) {
    if (v->g->level != LEVEL_SCHED || !has_edges(v)) return;
    uint32_t n = v->program->ops.n, count[STREAM_KINDS] = {0}, worked = 0, last = 0;
    StreamOrder o = {v, arena_alloc(v->arena, n * sizeof *o.clock),
                     arena_array(v->arena, uint32_t, n)};
    Clock before[STREAM_KINDS] = {{0}};
    for (uint32_t k = 0; k < n; k++) {
        const Op *op = verify_op(v, k);
        set_clock(&o, k, before[op->stream]);
        if (stream_runs_ahead(op->stream) && o.clock[k][STREAM_COMPUTE] < worked)
            verify_broken(v, RULE_SCHED_9, op, "need not wait for #%u %s", v->first_number + last,
                          op_info[verify_op(v, last)->kind].name);
        for (int s = 0; s < STREAM_KINDS; s++) before[op->stream][s] = o.clock[k][s];
        before[op->stream][op->stream] = o.on[k] = ++count[op->stream];
        if (op->stream != STREAM_COMPUTE || op_only_names(op)) continue;
        worked = o.on[k];
        last = k;
    }
}

/* What a rank sends in a step, and what saves cost: how many collectives of which kind, how many
 * bytes, and along which axes of the mesh. A collective over several axes counts for all of them
 * together; axes that passes cut off an axis (reshard_group, twin) count for that one. */
#include "dump.h"

#include <string.h>

/* The axes that users write. */
static AxisSet written_axes(const Mesh *mesh, AxisSet axes) {
    AxisSet written = 0;
    for (int a = 0; a < mesh->n; a++) {
        int own = a;
        while (own > 0 && !axis_info(mesh->axis[own].role)->is_written) own--;
        if (axes >> a & 1) written |= (AxisSet)1 << own;
    }
    return written;
}

/* seen: by unit, whether a program before has gathered it. */
static void count_program(SentBytes *s, const Plan *p, const PlanProgram *program, int64_t times,
                          bool *seen, Arena *a) {
    Mesh mesh = plan_mesh(p);
    for (uint32_t i = 0; i < program->n_instr; i++) {
        const PlanInstr *in = &p->instrs[program->first_instr + i];
        if (op_info[in->op].effect != EFFECT_COMM && in->op != OP_send) continue;
        bool results = op_gathers((OpKind)in->op);
        AxisSet axes = in->op == OP_send ? mesh_stage_axes(&mesh) : (AxisSet)in->attr.axes;
        uint32_t n = results ? in->n_out : in->n_in;
        Type *types = arena_array(a, Type, n);
        for (uint32_t k = 0; k < n; k++)
            types[k] = p->values[results ? in->first_out + k : p->operands[in->first_in + k]].type;
        uint64_t once =
            traffic_sent((OpKind)in->op, mesh_extent(&mesh, axes), (int)n, types, (int)n, types);
        uint64_t bytes = (uint64_t)times * once;
        bool first = in->op == OP_unshard && !seen[in->attr.unit];
        if (first) seen[in->attr.unit] = true;
        s->gathered_once += first ? once : 0;
        s->n[in->op] += (uint64_t)times;
        s->by_op[in->op] += bytes;
        s->by_axes[written_axes(&mesh, axes)] += bytes;
    }
}

SentBytes *sent_bytes(const Plan *p, Arena *a) {
    SentBytes *s = arena_new_of(a, SentBytes);
    bool *seen = arena_array(a, bool, p->n_units + 1);
    uint32_t most = 0; /* the first role that sends most */
    for (uint32_t r = 0; r < p->n_roles; r++)
        if (p->roles[r].sent_bytes > p->roles[most].sent_bytes) most = r;
    for (uint64_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].role == most && p->calls[i].kind == PLAN_STEP)
            count_program(s, p, &p->programs[p->calls[i].program], p->calls[i].times, seen, a);
    return s;
}

const char *sent_axes_name(const Plan *p, AxisSet axes, Arena *a) {
    Mesh mesh = plan_mesh(p);
    const char *name = "";
    for (int k = 0; k < mesh.n; k++)
        if (axes >> k & 1)
            name = arena_printf(a, "%s%s%s", name, *name ? " " : "", axis_name(mesh.axis[k].role));
    return name;
}

/* The set of axes along which most is sent and, of several, that is first; 0: nothing is. */
static AxisSet largest_of(const uint64_t *by_axes) {
    AxisSet most = 0;
    for (AxisSet axes = 1; axes < 1u << MESH_AXES; axes++)
        if (by_axes[axes] > by_axes[most]) most = axes;
    return most;
}

/* What is less than a thousandth of the whole is left out. */
const char *sent_text(const Plan *p, Arena *a) {
    enum { LEAST_SHARE = 1000 };
    SentBytes *s = sent_bytes(p, a);
    uint64_t all = p->settings->sent_bytes, *left = s->by_axes;
    const char *text = "", *one = arena_printf(a, "sends %s per step", amount_bytes(a, all));
    int n = 0;
    for (AxisSet axes; (axes = largest_of(left)) && left[axes] >= all / LEAST_SHARE; n++) {
        text = arena_printf(a, "%s%s%s %s", text, n ? ", " : "", sent_axes_name(p, axes, a),
                            amount_bytes(a, left[axes]));
        left[axes] = 0;
    }
    return n > 1 ? arena_printf(a, "sends per step along %s", text) : one;
}

/* ---- the cost of saves ----
 *
 * From the plan only: their bytes, how they are written, and the work that the next step does
 * before its first instruction that waits for one. How long it waits depends on speeds, which a
 * plan does not have. Of a pipeline, all of it is told of the stages that write most. */

/* A second run of a program waits only for what the first run waited for. */
static double flops_before_wait(const Plan *p, uint32_t role) {
    double flops = 0;
    for (uint64_t i = 0; i < p->n_calls; i++) {
        const PlanCall *c = &p->calls[i];
        const PlanProgram *q = &p->programs[c->program];
        double work = 0;
        if (c->kind != PLAN_STEP || c->role != role || c->times <= 0) continue;
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
            if (p->instrs[k].saves) return flops + work;
            work += (double)p->instrs[k].flops;
        }
        flops += work * (double)c->times;
    }
    return flops;
}

typedef struct Ways { /* how saves are written */
    uint64_t copied, direct, bytes;
} Ways;

static Ways ways_of(const Plan *p, uint32_t role) {
    Ways w = {0};
    for (uint64_t k = 0; k < p->n_saves; k++) {
        if (!plan_has_state(p, &p->states[p->saves[k].state], role)) continue;
        *(p->saves[k].copied ? &w.copied : &w.direct) += 1;
        w.bytes += p->saves[k].bytes;
    }
    return w;
}

const char *saves_text(const Plan *p, Arena *a) {
    uint32_t role = 0;
    for (uint32_t r = 1; r < p->n_roles; r++)
        if (ways_of(p, r).bytes > ways_of(p, role).bytes) role = r;
    Ways w = ways_of(p, role);
    uint64_t n = w.copied + w.direct;
    char *line = arena_printf(a, "%llu save%s, %s per rank, written during the next step", (Llu)n,
                              n == 1 ? "" : "s", amount_short(a, w.bytes));
    if (w.copied && w.direct) line = arena_printf(a, "%s, %llu of them", line, (Llu)w.copied);
    if (p->settings->snapshot == SNAPSHOT_COPY && !w.copied && w.direct)
        line = arena_printf(a, "%s, none of which fit into the copy", line);
    if (w.copied)
        line = arena_printf(a, "%s from a copy of %s in host memory", line,
                            amount_short(a, p->settings->copy_bytes));
    return arena_printf(a, "%s; the step does %s before it waits for one", line,
                        amount_flops(a, flops_before_wait(p, role)));
}

/* Test mode FSDP_CHECK=replicas: compares, bit for bit, values of which several ranks must have
 * equal copies.
 *
 * Along which axes of the mesh ranks have equal copies follows from the instructions. States lie
 * over ranks as their role and their group say. An op has equal results along an axis along which
 * its operands are equal; a gather or a sum over axes has them along these, too; a part of a value
 * or of a sum differs along the axes that share it out. What states hold besides weights and
 * moments is equal along the axes along which all values are that the programs set them to, and so
 * is what another stage receives. Stages are not compared with each other.
 *
 * The states are compared before the first instruction, weights, moments and the scale again where
 * they are set, and results that are read after the instruction that makes them. All ranks of a
 * group meet before and after, and the first of them compares its copy with those of the others.
 *
 * Works for ranks that are threads, on devices whose arena is host memory, in issue order.
 */
#include <stdio.h>
#include <string.h>

#include "op.h"
#include "signature.h"
#include "testing.h"

typedef struct ReplicaCheck {
    Rank *rank;
    AxisSet axes;   /* of more than one rank, without stages */
    AxisSet *value; /* by value: along which of them ranks have equal copies */
    AxisSet *state; /* by state, between instructions that set it */
    bool *read;     /* by value: by an instruction */
    bool began;
} ReplicaCheck;

/* ---- what is equal */

/* Does the role say how the state lies over the ranks, whatever a program sets it to? */
static bool is_settled(uint32_t role) {
    return state_is_saved(role) || role == STATE_COPY || role == STATE_SCALE ||
           role == STATE_STEP || role == STATE_STAGING;
}

/* The axes along which a state is equal; if its role does not settle them, before anything is known
 * of the values that it is set to. */
static AxisSet state_axes(const Plan *p, const PlanState *s) {
    Mesh mesh = plan_mesh(p);
    Layout l = {0};
    if (s->role == STATE_STEP || s->role == STATE_STAGING) /* which samples, and they themselves */
        return ~mesh_sample_axes(&mesh);
    if (state_is_saved(s->role)) l = plan_saved_layout(p, s);
    if (s->role == STATE_COPY) l = plan_layout(&p->groups[s->group]);
    return layout_copies(&l, &mesh);
}

/* An update, and the ops that prepare it, read only those parts of the step that all ranks have in
 * common. */
static bool reads_common_step(const Plan *p, const PlanInstr *in, uint32_t v) {
    const PlanInstr *def = &p->instrs[p->values[v].def];
    bool updates = op_info[in->op].role == ROLE_STEP || op_info[in->op].role == ROLE_UPDATE;
    return updates && def->op == OP_state && p->states[def->attr.index].role == STATE_STEP;
}

static AxisSet equal_operands(const ReplicaCheck *m, const PlanInstr *in) {
    const Plan *p = m->rank->run->plan;
    AxisSet equal = m->axes;
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint32_t v = p->operands[in->first_in + k];
        if (p->values[v].type.dtype != DT_TOKEN && !reads_common_step(p, in, v))
            equal &= m->value[v];
    }
    return equal;
}

/* Result j of a collective, operand by operand. */
static AxisSet equal_after_collective(const ReplicaCheck *m, const PlanInstr *in, uint32_t j) {
    AxisSet axes = (AxisSet)in->attr.axes;
    AxisSet equal = m->value[m->rank->run->plan->operands[in->first_in + j]];
    bool scatters = in->op == OP_reduce_scatter || in->op == OP_reduce_scatter_part;
    return scatters ? equal & ~axes : (equal | axes) & m->axes;
}

/* Ranks that have the same shard share out what is summed of it: rank_own_part. */
static AxisSet shared_out(const Rank *r, const PlanInstr *in, uint32_t j) {
    if (in->op == OP_grad_norm) return rank_norm_axes(&r->info);
    if (op_partial_result((OpKind)in->op) != (int)j) return 0;
    return mesh_sample_axes(&r->info.mesh);
}

static AxisSet equal_result(const ReplicaCheck *m, const PlanInstr *in, uint32_t j) {
    const Plan *p = m->rank->run->plan;
    const PlanValue *v = &p->values[in->first_out + j];
    if (in->op == OP_state || in->op == OP_receive) return m->state[in->attr.index];
    if (op_info[in->op].effect == EFFECT_COMM && v->type.dtype != DT_TOKEN)
        return equal_after_collective(m, in, j);
    AxisSet differ = shared_out(m->rank, in, j);
    if (in->op == OP_part || in->op == OP_retain) differ |= (AxisSet)in->attr.axes;
    const Placement *placed = plan_placement(p, v);
    for (int d = 0; placed && d < MAX_RANK; d++) differ |= placed->cut[d];
    if (placed) differ |= placed->partial;
    return equal_operands(m, in) & ~differ;
}

/* Goes through all instructions once; false: what is known of a state has changed. */
static bool find_equal(ReplicaCheck *m) {
    const Plan *p = m->rank->run->plan;
    bool same = true;
    for (uint32_t k = 0; k < p->n_instrs; k++) {
        const PlanInstr *in = &p->instrs[k];
        for (uint32_t j = 0; j < in->n_out; j++)
            m->value[in->first_out + j] = equal_result(m, in, j);
        for (uint32_t i = 0; i < in->n_in; i++) m->read[p->operands[in->first_in + i]] = true;
        if (in->op != OP_set_state && in->op != OP_send) continue;
        if (is_settled(p->states[in->attr.index].role)) continue;
        AxisSet *state = &m->state[in->attr.index];
        AxisSet both = *state & m->value[p->operands[in->first_in]];
        same &= both == *state;
        *state = both;
    }
    return same;
}

/* ---- comparing */

/* What is compared: a value, or a state. */
typedef struct Copied {
    const Type *type;
    void *(*at)(const Rank *r, uint32_t row);
    uint32_t row;
    AxisSet axes;
} Copied;

static void *state_at(const Rank *r, uint32_t row) {
    return rank_at(r, r->run->plan->states[row].address);
}

/* The first element in which two copies differ, or -1. Gaps between rows are left out. */
static int64_t first_difference(const Type *t, const char *a, const char *b) {
    int64_t n = type_elements(t), length = t->rank ? t->dim[t->rank - 1] : 1;
    int64_t row = t->pitch ? length : n, width = (int64_t)dtype_bytes(t->dtype);
    for (int64_t r = 0; r < n / row; r++) {
        int64_t first = r * (t->pitch ? t->pitch : row) * width;
        if (!memcmp(a + first, b + first, (size_t)(row * width))) continue;
        int64_t e = 0;
        while (!memcmp(a + first + e * width, b + first + e * width, (size_t)width)) e++;
        return r * row + e;
    }
    return -1;
}

/* "dp, tp" */
static const char *axes_text(const Mesh *mesh, AxisSet axes, char text[80]) {
    size_t n = 0;
    for (int a = 0; a < mesh->n && n < 70; a++)
        if (axes >> a & 1)
            n += (size_t)snprintf(text + n, 80 - n, "%s%s", n ? ", " : "",
                                  axis_name(mesh->axis[a].role));
    return text;
}

/* The bits of an element, most significant first. */
static const char *bits_text(const void *at, const Type *t, int64_t e, char text[24]) {
    int64_t length = t->rank ? t->dim[t->rank - 1] : 1, width = (int64_t)dtype_bytes(t->dtype);
    int64_t place = t->pitch ? e / length * t->pitch + e % length : e;
    const uint8_t *byte = (const uint8_t *)at + place * width;
    for (int64_t i = 0; i < width; i++) snprintf(text + 2 * i, 3, "%02x", byte[width - 1 - i]);
    return text;
}

static int tell_difference(const Rank *r, const Rank *other, const Copied *c, int64_t element,
                           const char *what, char *error) {
    char axes[80], mine[24], others[24];
    return fail_with(
        error, EXIT_RANK,
        "replica check: ranks %d and %d must have equal copies along %s: element %lld of %s "
        "is %s on the one and %s on the other",
        (int)r->rank, (int)other->rank, axes_text(&r->info.mesh, c->axes, axes), (long long)element,
        what, bits_text(c->at(r, c->row), c->type, element, mine),
        bits_text(c->at(other, c->row), c->type, element, others));
}

static int meet_ranks(Rank *r, AxisSet axes, char *error) {
    r->control = (Collective){.kind = BARRIER,
                              .axes = axes,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[axes]++,
                              .label = "a comparison of copies"};
    return r->run->transport->agree(r->transport, &r->control, 0, NULL, error);
}

static int compare_copies(Rank *r, const Copied *c, const char *what, char *error) {
    if (!c->axes) return 0;
    MeshGroup group = mesh_group(&r->info.mesh, c->axes, r->rank);
    int code = meet_ranks(r, c->axes, error);
    for (int32_t k = 1; k < group.size && !group.index && !code; k++) {
        const Rank *other = &r->run->rank[mesh_member(&group, k)];
        int64_t e = first_difference(c->type, c->at(r, c->row), c->at(other, c->row));
        if (e >= 0) code = tell_difference(r, other, c, e, what, error);
    }
    return code ? code : meet_ranks(r, c->axes, error);
}

/* The loader writes into the staging buffer at any time. */
static int compare_first_states(ReplicaCheck *m, char *error) {
    const Plan *p = m->rank->run->plan;
    int code = 0;
    m->began = true;
    for (uint32_t k = 0; k < p->n_states && !code; k++) {
        const PlanState *s = &p->states[k];
        if (!is_settled(s->role) || s->role == STATE_STAGING || !rank_has_state(m->rank, s))
            continue;
        char what[300];
        snprintf(what, sizeof what, "state %.200s before the first instruction",
                 plan_string(p, s->name));
        Copied c = {&s->type, state_at, k, m->state[k]};
        code = compare_copies(m->rank, &c, what, error);
    }
    return code;
}

/* What state `row` is set to. */
static int compare_new_state(ReplicaCheck *m, uint32_t instr, uint32_t row, char *error) {
    const Plan *p = m->rank->run->plan;
    uint32_t v = p->operands[p->instrs[instr].first_in];
    char text[256], what[500];
    if (!is_settled(p->states[row].role)) return 0;
    plan_instr_text(p, instr, text, sizeof text);
    snprintf(what, sizeof what, "state %.200s, set by %s", plan_string(p, p->states[row].name),
             text);
    Copied c = {&p->values[v].type, instruction_value, v, m->state[row]};
    return compare_copies(m->rank, &c, what, error);
}

static int compare_result(ReplicaCheck *m, uint32_t instr, uint32_t j, char *error) {
    const Plan *p = m->rank->run->plan;
    uint32_t v = p->instrs[instr].first_out + j;
    char text[256], what[300];
    if (p->values[v].type.dtype == DT_TOKEN || !m->read[v]) return 0;
    plan_instr_text(p, instr, text, sizeof text);
    snprintf(what, sizeof what, "result %u of %s", j, text);
    Copied c = {&p->values[v].type, instruction_value, v, m->value[v]};
    return compare_copies(m->rank, &c, what, error);
}

static int replica_check_after(void *of, uint32_t k, char *error) {
    ReplicaCheck *m = of;
    const PlanInstr *in = &m->rank->run->plan->instrs[k];
    bool makes = op_info[in->op].launched || op_info[in->op].effect == EFFECT_COMM;
    int code = m->began ? 0 : compare_first_states(m, error);
    if (!code && in->op == OP_set_state)
        code = compare_new_state(m, k, (uint32_t)in->attr.index, error);
    for (uint32_t j = 0; makes && j < in->n_out && !code; j++)
        code = compare_result(m, k, j, error);
    return code;
}

int replica_check_open(Rank *r) {
    const Run *run = r->run;
    const Plan *p = run->plan;
    if (!run->device->arena_is_host || run->launch.module || run->launch.ranks == 1)
        return fail_with(
            r->error, EXIT_USER,
            "FSDP_CHECK=replicas compares ranks that are threads of one process on device cpu: "
            "use --transport local and a plan for several ranks");
    Arena *a = r->memory;
    ReplicaCheck *m = arena_new_of(a, ReplicaCheck);
    *m = (ReplicaCheck){.rank = r};
    const Mesh *mesh = &r->info.mesh;
    for (int k = 0; k < mesh->n; k++) m->axes |= (AxisSet)(mesh->axis[k].size > 1) << k;
    m->axes &= ~mesh_stage_axes(mesh);
    m->value = arena_array(a, AxisSet, p->n_values + 1);
    m->state = arena_array(a, AxisSet, p->n_states + 1);
    m->read = arena_array(a, bool, p->n_values + 1);
    for (uint64_t k = 0; k < p->n_states; k++) m->state[k] = state_axes(p, &p->states[k]) & m->axes;
    while (!find_equal(m)) {
    }
    r->hooks = (TestHooks){.of = m, .after = replica_check_after};
    return 0;
}

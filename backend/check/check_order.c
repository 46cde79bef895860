/* Proofs 1 and 3, by program.
 *
 * check-1: every read is preceded, in happens-before order, by the write it needs.
 *   1a  the value is made by an instruction of this program, listed earlier
 *   1b  that instruction happens before the reader
 * The entry version of a state is there before the program starts, on every stream.
 *
 * check-3: a parameter is read only between its unshard and its reshard.
 *   3a  an unshard gathers its unit's groups, from their shards as the program found them, from the
 *       copies kept of these or from the parts that were retained, over the axes of their split
 *   3b  every reader of a gathered parameter happens before its reshard
 *   3c  a gathered parameter ends: in a reshard of its unit, or as a state that keeps it
 *   3d  a view shows exactly one parameter of a group, which lies in one piece in the group's flat
 *       value (views of gradients: proof 4); copy_out makes one that lies there in chunks,
 *       dequantize one that is quantized
 *   3e  a freed value (a flat gradient, a copy from host memory) has no reader afterwards
 *   3f  a state that keeps gathered parameters is read between an unshard and a reshard of the
 *       step; one that keeps a part of them, with reshard = K, has what was retained in the step
 *   3g  flat parameters are read only by view, copy_out, dequantize, reshard, retain and set_state;
 *       shards by these, and by unshard, cast, amax, quantize, fetch, free, updates and the ops
 *       that prepare updates; copies of shards by the first list, and by unshard, fetch and free;
 *       retained parts, unless they are the shard that was gathered, only by unshard and by the
 *       state that keeps them
 *
 * Along the way: how many non-root units are unsharded at once, in issue order.
 */
#include "check.h"

#include <string.h>

#include "signature.h"

void check_reads(Check *c, uint32_t program) {
    const Plan *p = c->p;
    const PlanProgram *pr = &p->programs[program];
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        for (uint32_t k = 0; k < p->instrs[i].n_in; k++) {
            uint32_t v = check_in(c, i, k), def = p->values[v].def;
            if (c->program[def] != program || def >= i)
                check_fail(c, "1a", i,
                           "operand %u (value %u) is the result of instruction %u, which "
                           "does not precede this one in its program",
                           k, v, def);
            c->result->reads++;
            if (p->instrs[def].op == OP_state) continue;
            if (!check_before(c, def, i))
                check_fail(
                    c, "1b", i,
                    "operand %u (value %u) is written by instruction %u on stream %s, which may "
                    "not have finished: no edge or stream order puts it before this one",
                    k, v, def, stream_name(p->instrs[def].stream));
        }
    }
}

/* The group whose state of that role has v as its entry version, or -1. */
static int64_t entry_group(const Check *c, uint32_t v, uint32_t role) {
    const PlanInstr *def = &c->p->instrs[c->p->values[v].def];
    if (def->op != OP_state || c->p->states[def->attr.index].role != role) return -1;
    return c->p->states[def->attr.index].group;
}

/* The group of which value v is a shard, or -1. A shard is the entry version of the group's
 * parameter state, that version cast or quantized (by what: see proof 4), the entry version of the
 * copy kept of it (4q), or a fetch of one of these states. */
static int64_t shard_group(const Check *c, uint32_t v) {
    int64_t copied = entry_group(c, check_at_home(c, v), STATE_COPY);
    if (copied >= 0) return copied;
    uint32_t def = c->p->values[v].def;
    uint16_t op = c->p->instrs[def].op;
    if (op == OP_cast || op == OP_quantize) v = check_in(c, def, 0);
    return entry_group(c, check_at_home(c, v), STATE_PARAM);
}

static int64_t flat_group(const Check *c, uint32_t v);

/* The group of a state of gathered parameters, or -1; of a part of them, as ranks share out with
 * reshard = K, or of all. */
static int64_t gathered_group(const Check *c, int64_t state, bool part) {
    const PlanState *st = &c->p->states[state];
    if (st->role != STATE_GATHERED) return -1;
    bool whole = check_elements(&st->type) == c->p->groups[st->group].padded;
    return whole == part ? -1 : st->group;
}

static int64_t retained_group(const Check *c, uint32_t v) {
    int64_t state = check_entry_state(c, v);
    return state >= 0 ? gathered_group(c, state, true) : -1;
}

/* What an unshard takes of a group: the group, or -1, and the axes over which that is split. */
static int64_t operand_group(const Check *c, uint32_t v, int64_t *axes) {
    uint64_t def = c->p->values[v].def;
    const PlanInstr *in = &c->p->instrs[def];
    bool retained = in->op == OP_retain;
    if (retained_group(c, v) >= 0) {
        *axes = mesh_retained_axes(&c->mesh);
        return retained_group(c, v);
    }
    int64_t group = retained ? flat_group(c, check_in(c, def, 0)) : shard_group(c, v);
    if (group >= 0) *axes = retained ? in->attr.axes : (int64_t)c->p->groups[group].split;
    return group;
}

static void check_unshard(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    const PlanUnit *u = &c->p->units[in->attr.unit];
    for (uint32_t k = 0; k < in->n_out; k++) {
        int64_t axes = 0;
        int64_t group = operand_group(c, check_in(c, i, k), &axes);
        const PlanGroup *g = &c->p->groups[u->first_group + k];
        const Type *out = &c->p->values[check_out(c, i, k)].type;
        if (group != (int64_t)(u->first_group + k))
            check_fail(c, "3a", i, "operand %u is not the shard of group %u", k,
                       u->first_group + k);
        if (in->attr.axes != axes)
            check_fail(c, "3a", i,
                       "gathers group %u over axes other than those that it is split over",
                       u->first_group + k);
        if (out->dtype != g->wire_dtype || check_elements(out) != g->padded)
            check_fail(c, "3a", i, "result %u is not group %u, padded (%lld elements)", k,
                       u->first_group + k, (long long)g->padded);
    }
}

/* The first instruction of kind `op` that uses root value v; NO_INSTR if there is none. */
static uint64_t first_use_by(const Check *c, uint32_t v, uint16_t op) {
    for (uint64_t k = c->first_use[v]; k < c->first_use[v + 1]; k++)
        if (c->p->instrs[c->use[k]].op == op) return c->use[k];
    return NO_INSTR;
}

/* Every reader of root value v happens before `end`, the reshard or free that ends it. */
static void check_ends(Check *c, uint32_t v, uint64_t end, const char *rule) {
    for (uint64_t k = c->first_use[v]; k < c->first_use[v + 1]; k++) {
        uint64_t user = c->use[k];
        if (user == end || check_before(c, user, end)) continue;
        /* A view is a name, not a read: its readers are in this list themselves. */
        if (op_info[c->p->instrs[user].op].alias == ALIAS_VIEW) continue;
        check_fail(c, rule, user,
                   "reads value %u, which instruction %llu %s, possibly before this read", v,
                   (Llu)end, rule[1] == 'b' ? "reshards" : "frees");
    }
}

/* Is value v kept as a state of gathered parameters at the end of its program? */
static bool is_kept(const Check *c, uint32_t v) {
    uint64_t set = first_use_by(c, v, OP_set_state);
    return set != NO_INSTR && c->p->states[c->p->instrs[set].attr.index].role == STATE_GATHERED;
}

/* Each result of an unshard has an end: a reshard, or a state that keeps it. */
static void check_resharded(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++) {
        uint32_t v = check_out(c, i, k);
        if (first_use_by(c, v, OP_reshard) == NO_INSTR && !is_kept(c, v))
            check_fail(c, "3c", i, "value %u is unsharded here and never resharded", v);
    }
}

/* The group that a flat value holds as it is gathered, or -1: a result of unshard, a cast of a
 * replicated group, the parameter state itself, or a kept gathered state. */
static int64_t flat_group(const Check *c, uint32_t v) {
    uint64_t def = c->p->values[v].def;
    const PlanInstr *in = &c->p->instrs[def];
    if (in->op == OP_unshard) {
        const PlanUnit *u = &c->p->units[in->attr.unit];
        uint32_t k = v - in->first_out;
        return k < u->n_group ? (int64_t)u->first_group + k : -1;
    }
    int64_t group = in->op == OP_state ? gathered_group(c, in->attr.index, false) : -1;
    if (group >= 0) return group;
    group = shard_group(c, v);
    return group >= 0 && !c->p->groups[group].split ? group : -1;
}

/* Does the op take one parameter out of a flat value? */
static bool shows_flat(uint16_t op) {
    return op == OP_view || op == OP_copy_out || op == OP_dequantize;
}

/* An update, or what prepares one, that takes the group's shard of weights. */
static bool reads_weights(uint16_t op) {
    bool of_step = op_info[op].role == ROLE_UPDATE || op_info[op].role == ROLE_STEP;
    return of_step && signature_find(op_signature((OpKind)op), "p") >= 0;
}

/* A part of gathered parameters, other than the shard that was there before the gather. */
static bool is_retained(const Check *c, uint32_t v) {
    uint64_t def = c->p->values[v].def;
    if (retained_group(c, v) >= 0) return true;
    return c->p->instrs[def].op == OP_retain && check_at_home(c, v) == v &&
           flat_group(c, check_in(c, def, 0)) >= 0;
}

/* Who may read values that hold parameters of several kinds (3g). */
static void check_readers(Check *c, uint64_t i) {
    const Plan *p = c->p;
    uint16_t op = p->instrs[i].op;
    bool takes_flat = shows_flat(op) || op == OP_set_state || op == OP_reshard || op == OP_retain;
    bool takes_shards = op == OP_unshard || op == OP_cast || op == OP_amax || op == OP_quantize ||
                        op == OP_fetch || op == OP_free || reads_weights(op);
    for (uint32_t k = 0; k < p->instrs[i].n_in; k++) {
        uint32_t v = check_in(c, i, k);
        bool shard = shard_group(c, v) >= 0;
        bool may_copy = op == OP_unshard || op == OP_fetch || op == OP_free;
        if (takes_shards && !may_copy && entry_group(c, check_at_home(c, v), STATE_COPY) >= 0)
            check_fail(c, "3g", i, "operand %u (value %u) is a copy for gathers", k, v);
        bool kept = op == OP_set_state && p->states[p->instrs[i].attr.index].role == STATE_GATHERED;
        if (is_retained(c, v) && op != OP_unshard && !kept)
            check_fail(c, "3g", i, "operand %u (value %u) is retained for a gather", k, v);
        if (takes_flat) continue;
        if ((shard && !takes_shards) || (!shard && flat_group(c, v) >= 0))
            check_fail(c, "3g", i, "operand %u (value %u) is %s", k, v,
                       shard ? "a shard of parameters" : "a flat parameter, not a view of it");
    }
}

/* The parameter that a copy out of group g makes, or -1. */
static int64_t copied_param(const Check *c, uint64_t i, const PlanGroup *g) {
    const Plan *p = c->p;
    const PlanGroupParam *at = &p->group_params[g->first_param];
    const Type *t = &p->values[check_out(c, i, 0)].type;
    uint32_t k = 0;
    while (k < g->n_param && at[k].param != p->instrs[i].attr.index) k++;
    bool quantized = dtype_is_quantized((int)g->wire_dtype);
    if (quantized != (p->instrs[i].op == OP_dequantize)) return -1;
    bool copied = k < g->n_param && (at[k].chunk || quantized) && t->dtype == g->compute_dtype &&
                  type_same_dims(t, &p->params[at[k].param].type);
    return copied ? (int64_t)at[k].param : -1;
}

/* The parameter that view i of the group's flat value shows, in the dtype that this has, or -1. */
static int64_t viewed_param(const Check *c, uint64_t i, const PlanGroup *g) {
    const Plan *p = c->p;
    if (dtype_is_quantized((int)g->wire_dtype)) return -1;
    const PlanGroupParam *at = &p->group_params[g->first_param];
    const Type *t = &p->values[check_out(c, i, 0)].type;
    int64_t element = check_element_bytes(t->dtype), offset = p->instrs[i].attr.offset;
    uint32_t low = 0, high = g->n_param; /* offsets ascend */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle].offset * element <= offset)
            low = middle;
        else
            high = middle;
    }
    bool shown = at[low].offset * element == offset &&
                 t->dtype == p->values[check_in(c, i, 0)].type.dtype &&
                 type_same_dims(t, &p->params[at[low].param].type);
    shown &= check_in_one_piece(c, &at[low]);
    return shown ? (int64_t)at[low].param : -1;
}

/* The group of the flat value that instruction i shows a parameter of, or NULL. */
static const PlanGroup *shown_group(const Check *c, uint64_t i) {
    int64_t group = flat_group(c, check_in(c, i, 0));
    return group < 0 ? NULL : &c->p->groups[group];
}

/* Is it a view of the master, which is read through a cast? */
static bool shows_master(const Check *c, uint64_t i, const PlanGroup *g) {
    uint32_t dtype = c->p->values[check_out(c, i, 0)].type.dtype;
    return c->p->instrs[i].op == OP_view && dtype == g->master_dtype && dtype != g->compute_dtype;
}

/* The parameter that instruction i, a cast of a view of the master, makes, or -1. */
static int64_t cast_param(const Check *c, uint64_t i) {
    const Plan *p = c->p;
    uint64_t view = p->values[check_in(c, i, 0)].def;
    if (p->instrs[view].op != OP_view) return -1;
    const PlanGroup *g = shown_group(c, view);
    const Type *t = &p->values[check_out(c, i, 0)].type;
    if (!g || !shows_master(c, view, g) || t->dtype != g->compute_dtype) return -1;
    return type_same_dims(t, &p->values[check_in(c, i, 0)].type) ? viewed_param(c, view, g) : -1;
}

int64_t check_param_shown(const Check *c, uint64_t i) {
    uint16_t op = c->p->instrs[i].op;
    if (op == OP_cast) return cast_param(c, i);
    if (!shows_flat(op)) return -1;
    const PlanGroup *g = shown_group(c, i);
    if (!g || c->p->values[check_out(c, i, 0)].type.dtype != g->compute_dtype) return -1;
    return op == OP_view ? viewed_param(c, i, g) : copied_param(c, i, g);
}

/* Is it a view of a gradient state? Those are left to proof 4. */
static bool shows_gradient(const Check *c, uint64_t i) {
    int64_t state = check_entry_state(c, check_in(c, i, 0));
    return c->p->instrs[i].op == OP_view && state >= 0 &&
           c->p->states[state].role == STATE_GRADIENT;
}

static void check_view(Check *c, uint64_t i) {
    const PlanGroup *g = shown_group(c, i);
    if (check_param_shown(c, i) >= 0 || shows_gradient(c, i)) return;
    if (g && shows_master(c, i, g) && viewed_param(c, i, g) >= 0) return;
    if (c->p->instrs[i].op != OP_view)
        check_fail(
            c, "3d", i,
            "is not a copy of parameter %s: value %u holds no such parameter %s, or the result "
            "has another type",
            plan_string(c->p, c->p->params[c->p->instrs[i].attr.index].name), check_in(c, i, 0),
            c->p->instrs[i].op == OP_copy_out ? "in chunks" : "quantized");
    check_fail(c, "3d", i,
               "does not view a parameter: in value %u, no parameter starts at byte %lld",
               check_in(c, i, 0), (long long)c->p->instrs[i].attr.offset);
}

static bool is_root_unit(const Check *c, int64_t unit) {
    return unit >= 0 && (uint64_t)unit < c->p->n_units &&
           plan_string(c->p, c->p->units[unit].name)[0] == 0;
}

static void check_reshard(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    for (uint32_t k = 0; k < in->n_in; k++) {
        int64_t group = flat_group(c, check_in(c, i, k));
        if (group < 0 || c->p->groups[group].unit != in->attr.unit)
            check_fail(c, "3c", i, "operand %u is not a group of unit %lld", k,
                       (long long)in->attr.unit);
    }
}

void check_parameters(Check *c, uint32_t program) {
    const PlanProgram *pr = &c->p->programs[program];
    uint32_t live = 0, most = 0;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &c->p->instrs[i];
        bool root_unit = is_root_unit(c, in->attr.unit);
        check_readers(c, i);
        switch (in->op) {
        case OP_unshard:
            check_unshard(c, i);
            check_resharded(c, i);
            live += !root_unit;
            most = MAX(most, live);
            c->result->gathers++;
            break;
        case OP_view:
        case OP_copy_out:
        case OP_dequantize:
            check_view(c, i);
            c->result->views++;
            break;
        case OP_reshard: check_reshard(c, i); /* fall through */
        case OP_free:
            for (uint32_t k = 0; k < in->n_in; k++)
                check_ends(c, c->root[check_in(c, i, k)], i, in->op == OP_free ? "3e" : "3b");
            live -= in->op == OP_reshard && !root_unit && live > 0;
            break;
        default: break;
        }
    }
    if (program < ARRAY_LEN(c->result->live_units)) c->result->live_units[program] = most;
}

typedef struct GatheredStates {
    Check *c;
    uint8_t *kept; /* by state: holds what this step gathered, when the call starts */
    uint8_t *next; /* when it ends */
} GatheredStates;

static void follow_kept(GatheredStates *s, uint64_t i) {
    const Check *c = s->c;
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op == OP_reshard) {
        for (uint32_t k = 0; k < in->n_in; k++) {
            int64_t index = check_entry_state(c, c->root[check_in(c, i, k)]);
            if (index >= 0) s->next[index] = 0;
        }
        return;
    }
    if (in->op != OP_state && in->op != OP_set_state) return;
    const PlanState *st = &c->p->states[in->attr.index];
    if (st->role != STATE_GATHERED) return;
    const char *name = plan_string(c->p, st->name);
    if (in->op == OP_state && !s->kept[in->attr.index])
        check_fail(s->c, "3f", i, "reads state %s, which no instruction has gathered in this step",
                   name);
    if (in->op == OP_state) return;
    uint32_t v = check_in(c, i, 0);
    const PlanInstr *def = &c->p->instrs[c->p->values[v].def];
    bool entry = check_entry_state(c, v) == in->attr.index;
    bool part = gathered_group(c, in->attr.index, true) >= 0;
    bool right =
        part ? def->op == OP_retain && (AxisSet)def->attr.axes == mesh_retained_axes(&c->mesh)
             : def->op == OP_unshard;
    uint32_t flat = part && right ? c->operands[def->first_in] : v;
    if (!entry && (!right || flat_group(c, flat) != st->group))
        check_fail(s->c, "3f", i, "stores in state %s a value that is not its gathered group",
                   name);
    s->next[in->attr.index] = entry ? s->kept[in->attr.index] : 1;
}

static void keep_calls(GatheredStates *s, uint32_t role, uint32_t kind) {
    const Plan *p = s->c->p;
    memset(s->kept, 0, p->n_states + 1);
    for (uint32_t k = 0; k < p->n_calls; k++) {
        const PlanCall *call = &p->calls[k];
        if (call->role != role || call->kind != kind) continue;
        const PlanProgram *pr = &p->programs[call->program];
        /* From its second time on a program finds what it left. */
        for (int64_t time = 0; time < MIN(call->times, 2); time++) {
            memcpy(s->next, s->kept, p->n_states + 1);
            for (uint64_t i = pr->first_instr; i < check_end(pr); i++) follow_kept(s, i);
            memcpy(s->kept, s->next, p->n_states + 1);
        }
    }
}

void check_kept(Check *c, uint32_t role) {
    GatheredStates s = {.c = c,
                        .kept = arena_alloc(c->arena, c->p->n_states + 1),
                        .next = arena_alloc(c->arena, c->p->n_states + 1)};
    for (uint32_t kind = PLAN_STEP; kind <= PLAN_EVALUATION; kind++) keep_calls(&s, role, kind);
}

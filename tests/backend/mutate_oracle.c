/* The oracle: runs one step and one evaluation of a plan on one or two ranks, with tokens in place
 * of numbers, and says what went wrong first.
 *
 * Memory is cut into cells at every address where some value or state begins or ends. A cell holds
 * the token of who wrote it last: a value, a state as it was when the program started, nobody, or
 * an instruction that is still writing. An instruction starts, is under way, and finishes; streams
 * and ranks interleave as a scheduler with random priorities says, held back by nothing but the
 * order on a stream, edges that have not finished, and collectives that not all ranks have reached.
 * When an instruction starts and again when it finishes, every byte that it reads must hold the
 * token of its operand; while it runs, what it writes is nobody's.
 *
 * Beside the token goes what the value stands for: a version of a group's parameters, the gradient
 * of a group with a count for each call of the step, a sum of losses, a norm over some groups.
 * Updates check what they get, and the end of the step what the states hold. What a gradient op
 * computes inside is not followed: pack makes one contribution of the call from its operands. Saves
 * begin with the step and end when an instruction waits for them, or with the step. They must find
 * the state as it was when the step began. Nothing here comes from the checker. Two ranks stand for
 * all: of one role, or of the first and the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "signature.h"

enum { CALLS = 6, STALE = CALLS, INSTANCES = 2, COMMS = (1 << MESH_AXES) * COMM_PURPOSES };
/* What collectives reduce: from IS_GRADIENT to IS_SIZES. IS_SUMS, IS_SIZES: parts of what Adafactor
 * (the first: or Muon) reads of a group, IS_MEANS: what it keeps; IS_STATS: of a router; IS_PART:
 * what a rank retains of gathered parameters. */
enum {
    IS_OTHER,
    IS_SHARD,
    IS_PART,
    IS_FLAT,
    IS_GRADIENT,
    IS_TERM,
    IS_NORM,
    IS_STATS,
    IS_SUMS,
    IS_SIZES,
    IS_SCALE,
    IS_MOMENT,
    IS_MEANS
};

typedef struct Data {
    uint8_t kind;
    AxisSet summed, split;    /* over which axes it is a sum, over which it was cut */
    uint8_t count[CALLS + 1]; /* gradient, term: by call of the step; [STALE]: of the last one */
    int32_t group, version;   /* term: op; moment: state role in count[0] */
    uint64_t groups;          /* norm */
} Data;

typedef struct Cells {
    uint32_t from, to;
} Cells;

typedef struct Stream {
    uint32_t *list, n, at;
    bool running;
    uint32_t priority[2]; /* to start, to finish */
} Stream;

typedef struct Meeting { /* the k-th collective of a communicator */
    uint32_t arrived, instr[INSTANCES];
} Meeting;

typedef struct Instance {
    uint32_t role;
    const PlanProgram *program;
    uint32_t *cell;  /* tokens */
    Data *value;     /* by value, for roots */
    Data *state;     /* by state, as the program started */
    uint8_t *done;   /* by instruction */
    uint32_t *meets; /* by collective: its number on its communicator */
    uint32_t arrivals[COMMS];
    Stream stream[STREAM_KINDS];
    uint32_t saved;   /* saves that are over in this step */
    uint8_t *written; /* by state: an earlier call of the step has changed it */
} Instance;

typedef struct Oracle {
    const Plan *p;
    Random *random;
    AxisSet samples;                 /* axes along which ranks have other samples */
    Cells *value[INSTANCES], *state; /* a value in a slot is elsewhere on each rank */
    uint32_t n_cells;
    uint32_t *root;
    uint64_t *offset; /* of a view in its root */
    Instance rank[INSTANCES];
    uint32_t n_ranks;
    Meeting *meeting[COMMS];
    uint32_t call; /* number of the call in the step */
    bool evaluation;
    uint32_t updates; /* version that parameters must have when they are read */
    char fault[256];
} Oracle;

enum { NOBODY = 0 };
static uint32_t token_of_value(uint32_t v) { return v + 1; }
static uint32_t token_of_state(const Oracle *o, uint32_t s) {
    return (uint32_t)o->p->n_values + 1 + s;
}
static uint32_t token_pending(const Oracle *o, uint32_t i) {
    return (uint32_t)(o->p->n_values + o->p->n_states) + 1 + i;
}

static bool wrong(Oracle *o, uint32_t i, const char *what) {
    char where[128] = "";
    if (o->fault[0]) return false;
    if (i < o->p->n_instrs) plan_instr_text(o->p, i, where, sizeof where);
    snprintf(o->fault, sizeof o->fault, "%s: %s", where, what);
    return false;
}

/* ---- memory ---- */

static int compare_addresses(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t find_cell(const uint64_t *at, uint32_t n, uint64_t address) {
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (at[middle] <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t rank_of(const Oracle *o, uint32_t instance) {
    return instance ? o->p->settings->ranks - 1 : 0;
}

static Cells find_cells(const uint64_t *at, uint32_t n, uint64_t address, const Type *t) {
    return (Cells){find_cell(at, n, address), find_cell(at, n, address + (uint64_t)type_bytes(t))};
}

static void cut_cells(Oracle *o) {
    const Plan *p = o->p;
    uint64_t *at = calloc(2 * (INSTANCES * p->n_values + p->n_states) + 2, sizeof *at);
    uint32_t n = 0, distinct = 0;
    for (uint32_t k = 0; k < INSTANCES; k++)
        for (uint32_t v = 0; v < p->n_values; v++) {
            at[n++] = plan_address(p, &p->values[v], rank_of(o, k));
            at[n] = at[n - 1] + (uint64_t)type_bytes(&p->values[v].type);
            n++;
        }
    for (uint32_t s = 0; s < p->n_states; s++) {
        at[n++] = p->states[s].address;
        at[n++] = p->states[s].address + (uint64_t)type_bytes(&p->states[s].type);
    }
    qsort(at, n, sizeof *at, compare_addresses);
    for (uint32_t k = 0; k < n; k++)
        if (!k || at[k] != at[distinct - 1]) at[distinct++] = at[k];
    o->n_cells = distinct;
    for (uint32_t k = 0; k < INSTANCES; k++)
        for (uint32_t v = 0; v < p->n_values; v++)
            o->value[k][v] = find_cells(at, distinct, plan_address(p, &p->values[v], rank_of(o, k)),
                                        &p->values[v].type);
    for (uint32_t s = 0; s < p->n_states; s++)
        o->state[s] = find_cells(at, distinct, p->states[s].address, &p->states[s].type);
    free(at);
}

static Cells cells_of(const Oracle *o, const Instance *r, uint32_t v) {
    return o->value[r - o->rank][v];
}

static uint32_t in_of(const Plan *p, uint32_t i, uint32_t k) {
    return p->operands[p->instrs[i].first_in + k];
}
static uint32_t out_of(const Plan *p, uint32_t i, uint32_t k) { return p->instrs[i].first_out + k; }

static uint32_t expected_token(const Oracle *o, uint32_t v) {
    uint32_t root = o->root[v];
    const PlanInstr *def = &o->p->instrs[o->p->values[root].def];
    return def->op == OP_state ? token_of_state(o, (uint32_t)def->attr.index)
                               : token_of_value(root);
}

static const Data *data_of(const Oracle *o, const Instance *r, uint32_t v) {
    const PlanInstr *def = &o->p->instrs[o->p->values[o->root[v]].def];
    return def->op == OP_state ? &r->state[def->attr.index] : &r->value[o->root[v]];
}

static bool holds(const Instance *r, Cells c, uint32_t token, Cells except) {
    for (uint32_t k = c.from; k < c.to; k++)
        if (r->cell[k] != token && !(k >= except.from && k < except.to)) return false;
    return true;
}

static void fill(Instance *r, Cells c, uint32_t token) {
    for (uint32_t k = c.from; k < c.to; k++) r->cell[k] = token;
}

static bool overlap(Cells a, Cells b) { return a.from < b.to && b.from < a.to; }

/* Does a gather find operand k where it would put it in result k? */
static bool is_in_its_slot(const Oracle *o, const Instance *r, uint32_t i, uint32_t k) {
    const Plan *p = o->p;
    if (p->instrs[i].op != OP_unshard || k >= p->instrs[i].n_out) return false;
    const PlanValue *from = &p->values[in_of(p, i, k)], *to = &p->values[out_of(p, i, k)];
    Mesh mesh = plan_mesh(p);
    int64_t rank = rank_of(o, (uint32_t)(r - o->rank));
    int64_t slot = mesh_index(&mesh, rank, (AxisSet)p->instrs[i].attr.axes);
    return plan_address(p, from, rank) ==
           plan_address(p, to, rank) + (uint64_t)(slot * type_bytes(&from->type));
}

/* May the op write its result j where its operand k is, if they have the same place? */
static bool works_in_place(const Plan *p, uint32_t i, uint32_t k, uint32_t j) {
    const OpInfo *o = &op_info[p->instrs[i].op];
    bool masked = k >= 32 ? o->alias_mask == UINT32_MAX : o->alias_mask >> k & 1;
    if (o->alias == ALIAS_MAY || o->alias == ALIAS_ACC) return masked && j == 0;
    if (o->alias == ALIAS_EACH) return true;
    return o->alias == ALIAS_MUST && masked && j == k;
}

/* Does the data of a view lie where it is read, and is it one parameter if it is of parameters? */
static bool view_is_right(Oracle *o, const Instance *r, uint32_t i, uint32_t v) {
    const Plan *p = o->p;
    uint32_t root = o->root[v];
    if (root == v) return true;
    uint64_t offset = o->offset[v], bytes = (uint64_t)type_bytes(&p->values[v].type);
    if (p->values[v].address != p->values[root].address + offset ||
        offset + bytes > (uint64_t)type_bytes(&p->values[root].type))
        return wrong(o, i, "a view is not inside its value");
    const Data *d = data_of(o, r, v);
    if (d->kind < IS_SHARD || d->kind > IS_FLAT) return true;
    const PlanGroup *g = &p->groups[d->group];
    uint64_t element = dtype_bytes(p->values[root].type.dtype);
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *a = &p->group_params[g->first_param + k];
        if ((uint64_t)a->offset * element == offset &&
            (uint64_t)type_elements(&p->params[a->param].type) * element == bytes)
            return !a->chunk || (uint64_t)a->chunk * element >= bytes ||
                   wrong(o, i, "a view shows chunks");
    }
    return wrong(o, i, "a view shows no parameter");
}

static bool reads_parameters(uint16_t op) {
    return op == OP_unshard || op == OP_copy_out || op == OP_cast || op == OP_retain ||
           op == OP_fetch || op == OP_factored_sums || op_info[op].role == ROLE_UPDATE;
}

static int32_t is_trained(const Plan *p, int32_t group) {
    return group >= 0 && p->groups[group].flags & GROUP_TRAINABLE;
}

/* All operands are there, and results will not hurt them. */
static bool operands_are_right(Oracle *o, Instance *r, uint32_t i, bool finishing) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint32_t v = in_of(p, i, k);
        if (p->values[v].type.dtype == DT_TOKEN) continue;
        Cells own = {0}, from = cells_of(o, r, v);
        for (uint32_t j = 0; j < in->n_out; j++) {
            uint32_t out = out_of(p, i, j);
            if (p->values[out].type.dtype == DT_TOKEN || !overlap(from, cells_of(o, r, out)))
                continue;
            own = cells_of(o, r, out);
            bool same = from.from == own.from && from.to == own.to;
            bool gathered = j == k && is_in_its_slot(o, r, i, k);
            if (in->op != OP_pack && !gathered && !(same && works_in_place(p, i, k, j)))
                return wrong(o, i, "a result is written over an operand");
        }
        if (!holds(r, from, expected_token(o, v), finishing ? own : (Cells){0}))
            return wrong(o, i, "an operand is not in its memory");
        if (!view_is_right(o, r, i, v)) return false;
        const Data *d = data_of(o, r, v);
        bool parameters = d->kind >= IS_SHARD && d->kind <= IS_FLAT && in->op != OP_evict;
        bool next =
            in->op == OP_cast && op_info[p->instrs[p->values[v].def].op].role == ROLE_UPDATE;
        if (parameters && d->version != (int32_t)o->updates * is_trained(p, d->group) + next)
            return wrong(o, i, "reads parameters of another step");
        if (parameters && o->root[v] == v && !reads_parameters(in->op))
            return wrong(o, i, "reads flat parameters as a tensor");
    }
    return true;
}

/* ---- what values stand for ---- */

static Data add(const Data *a, const Data *b) {
    Data sum = *a;
    if (a->kind != b->kind || a->group != b->group || a->summed != b->summed ||
        a->split != b->split || (a->groups & b->groups))
        return (Data){0};
    for (int c = 0; c <= CALLS; c++) sum.count[c] = (uint8_t)MIN(a->count[c] + b->count[c], 99);
    sum.groups |= b->groups;
    return sum;
}

static bool is_whole(const Oracle *o, const Data *d) {
    bool one = true;
    for (int c = 0; c <= CALLS; c++) one &= d->count[c] == (c < o->p->settings->micro_batches);
    return one && d->summed == o->samples;
}

static bool is_gradient(const Oracle *o, const Data *d, int64_t group) {
    return d->kind == IS_GRADIENT && d->group == group && is_whole(o, d) &&
           d->split == o->p->groups[group].split;
}

/* Is operand k of that kind, of the instruction's group, summed over `axes`? */
static bool is_part(Oracle *o, Instance *r, uint32_t i, uint32_t k, int kind, AxisSet axes) {
    const Data *d = data_of(o, r, in_of(o->p, i, k));
    return d->kind == kind && d->group == (int32_t)o->p->instrs[i].attr.group && d->summed == axes;
}

/* adafactor, besides what it shares with other updates; what it reads of its group. */
static bool follow_adafactor(Oracle *o, Instance *r, uint32_t i) {
    if (!is_part(o, r, i, 4, IS_MEANS, 0) || data_of(o, r, in_of(o->p, i, 4))->version != 1 ||
        !is_part(o, r, i, 5, IS_SUMS, o->samples) || !is_part(o, r, i, 6, IS_SIZES, o->samples))
        return wrong(o, i, "updates with other sums than its group's");
    return true;
}

static bool follow_factored(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    int32_t group = (int32_t)in->attr.group;
    const Data *first = data_of(o, r, in_of(p, i, 0));
    Data *out = &r->value[out_of(p, i, 0)];
    bool moves = in->op == OP_muon_momentum;
    int kind = moves ? IS_MOMENT : in->op == OP_factored_sums ? IS_SHARD : IS_MEANS;
    bool right = first->group == group && first->kind == kind &&
                 first->version == (in->op == OP_factored_rms);
    right &= data_of(o, r, in_of(p, i, 2))->kind == IS_SCALE;
    if (in->op == OP_factored_means)
        right &= is_part(o, r, i, 1, IS_SUMS, o->samples);
    else
        right &= is_gradient(o, data_of(o, r, in_of(p, i, 1)), group);
    if (!right) return wrong(o, i, "sums something else than its group");
    *out = (Data){.kind = in->op == OP_factored_sums ? IS_SUMS : IS_SIZES, .group = group};
    if (moves) r->value[out_of(p, i, 1)] = (Data){.kind = IS_SUMS, .group = group};
    if (moves) *out = *first, out->version++;
    if (in->op == OP_factored_means) *out = (Data){.kind = IS_MEANS, .group = group, .version = 1};
    return true;
}

/* What reads statistics of routing reads those of all samples. */
static bool follow_stats(Oracle *o, Instance *r, uint32_t i) {
    const Data *stats = data_of(o, r, in_of(o->p, i, 1));
    if (stats->kind != IS_STATS || stats->summed != o->samples)
        return wrong(o, i, "reads statistics of some ranks");
    if (o->p->instrs[i].op == OP_balance_loss)
        r->value[out_of(o->p, i, 0)] = *data_of(o, r, in_of(o->p, i, 0));
    return true;
}

static bool follow_update(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    int32_t group = (int32_t)in->attr.group;
    uint32_t states = signature_updated(op_signature((OpKind)in->op));
    for (uint32_t k = 0; k < states; k++) {
        const Data *d = data_of(o, r, in_of(p, i, k));
        if (d->kind != (k ? IS_MOMENT : IS_SHARD) || d->group != group || d->version != 0 ||
            (k && d->count[0] != k))
            return wrong(o, i, "updates something else than its group");
        Data *out = &r->value[out_of(p, i, k)];
        *out = *d;
        out->version++;
    }
    if (op_info[in->op].attrs & A_copy && in->attr.copy)
        r->value[out_of(p, i, states)] = r->value[out_of(p, i, 0)];
    AxisSet summed = p->groups[group].split ? o->samples : 0; /* whole ones are not summed */
    if (in->op == OP_muon && !is_part(o, r, i, 1, IS_SUMS, summed))
        return wrong(o, i, "updates with other momentum than its group's");
    if (in->op != OP_muon && !is_gradient(o, data_of(o, r, in_of(p, i, states)), group))
        return wrong(o, i, "updates with a wrong gradient");
    if (data_of(o, r, in_of(p, i, states + 1))->kind != IS_SCALE)
        return wrong(o, i, "updates with a wrong scale");
    if (in->op == OP_adafactor) return follow_adafactor(o, r, i);
    return true;
}

static bool follow_scale(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const Data *loss = data_of(o, r, in_of(p, i, 0)), *norm = data_of(o, r, in_of(p, i, 1));
    uint64_t trainable = 0;
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (p->groups[g].flags & GROUP_TRAINABLE) trainable |= 1ull << g;
    if (loss->kind != IS_TERM || loss->group != OP_cross_entropy || !is_whole(o, loss))
        return wrong(o, i, "its loss is not that of the step");
    if (norm->kind != IS_NORM || norm->groups != trainable || norm->summed != o->samples)
        return wrong(o, i, "its norm is not that of the step");
    r->value[out_of(p, i, 0)].kind = IS_SCALE;
    return true;
}

static bool follow_pack(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    uint32_t flat = out_of(p, i, 0);
    const PlanGroup *g = &p->groups[in->attr.group];
    uint64_t element = dtype_bytes(p->values[flat].type.dtype);
    if (in->n_in != g->n_param) return wrong(o, i, "packs another number of gradients");
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint64_t offset = (uint64_t)p->group_params[g->first_param + k].offset * element;
        bool in_place = p->values[in_of(p, i, k)].address == p->values[flat].address + offset;
        if (in->op == OP_pack && !in_place) return wrong(o, i, "a gradient is not at its place");
    }
    Data *d = &r->value[flat];
    *d = (Data){.kind = IS_GRADIENT, .group = (int32_t)in->attr.group};
    d->count[o->call] = 1;
    return true;
}

/* Of the gathered group whose parameter it is. */
static bool follow_copy(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const Data *d = data_of(o, r, in_of(p, i, 0));
    if (d->kind != IS_FLAT) return wrong(o, i, "copies out of something else than a gather");
    const PlanGroup *g = &p->groups[d->group];
    for (uint32_t k = 0; k < g->n_param; k++)
        if (p->group_params[g->first_param + k].param == p->instrs[i].attr.index) return true;
    return wrong(o, i, "copies a parameter of another group");
}

/* A collective: every operand of all ranks is of the same kind, and not reduced before. */
static bool follow_collective(Oracle *o, Instance *r, uint32_t i, const Meeting *m) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++) {
        Data d = *data_of(o, r, in_of(p, i, k));
        for (uint32_t other = 0; other < o->n_ranks; other++) {
            const Data *e = data_of(o, &o->rank[other], in_of(p, m->instr[other], k));
            if (e->kind != d.kind || e->group != d.group || e->version != d.version ||
                e->groups != d.groups || memcmp(e->count, d.count, sizeof d.count))
                return wrong(o, i, "ranks bring different things together");
        }
        if (in->op == OP_unshard) {
            AxisSet split = d.kind == IS_PART ? d.split : p->groups[d.group].split;
            if ((d.kind != IS_SHARD && d.kind != IS_PART) || (AxisSet)in->attr.axes != split)
                return wrong(o, i, "gathers what is no shard");
            d.kind = IS_FLAT;
            d.split = 0;
        } else {
            AxisSet axes = (AxisSet)in->attr.axes;
            if (d.summed & axes || d.split & axes || d.kind < IS_GRADIENT || d.kind > IS_SIZES)
                return wrong(o, i, "reduces what it must not");
            d.summed |= axes;
            if (in->op == OP_reduce_scatter) d.split |= axes;
        }
        r->value[out_of(p, i, k)] = d;
    }
    return true;
}

static bool follow_copy_of(Oracle *o, Instance *r, uint32_t i) {
    const Data *d = data_of(o, r, in_of(o->p, i, 0));
    if (o->p->instrs[i].op != OP_cast || d->kind == IS_SHARD) r->value[out_of(o->p, i, 0)] = *d;
    return true;
}

static bool follow(Oracle *o, Instance *r, uint32_t i, const Meeting *m) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++) r->value[out_of(p, i, k)] = (Data){0};
    if (m) return follow_collective(o, r, i, m);
    Data *out = in->n_out ? &r->value[out_of(p, i, 0)] : NULL;
    switch (in->op) {
    case OP_fetch:
    case OP_evict:
    case OP_cast: return follow_copy_of(o, r, i);
    case OP_retain:
        *out = *data_of(o, r, in_of(p, i, 0));
        if (out->kind != IS_FLAT || out->group != in->attr.group)
            return wrong(o, i, "retains a part of something else");
        out->kind = IS_PART;
        out->split = (AxisSet)in->attr.axes;
        return true;
    case OP_accumulate:
    case OP_metric_add:
        *out = add(data_of(o, r, in_of(p, i, 0)), data_of(o, r, in_of(p, i, 1)));
        return true;
    case OP_cross_entropy:
    case OP_accuracy:
        *out = (Data){.kind = IS_TERM, .group = in->op};
        out->count[o->call] = 1;
        return true;
    case OP_cross_entropy_both:
        out = &r->value[out_of(p, i, 1)];
        *out = (Data){.kind = IS_TERM, .group = OP_cross_entropy};
        out->count[o->call] = 1;
        return true;
    case OP_copy_out: return follow_copy(o, r, i);
    case OP_pack:
    case OP_copy_in: return follow_pack(o, r, i);
    case OP_grad_norm:
        if (!is_gradient(o, data_of(o, r, in_of(p, i, 0)), in->attr.group))
            return wrong(o, i, "takes the norm of a wrong gradient");
        *out = (Data){.kind = IS_NORM, .groups = 1ull << in->attr.group};
        return true;
    case OP_step_scale: return follow_scale(o, r, i);
    case OP_muon_momentum:
    case OP_factored_sums:
    case OP_factored_means:
    case OP_factored_rms: return follow_factored(o, r, i);
    case OP_balance: *out = (Data){.kind = IS_STATS}; return true;
    case OP_balance_loss:
    case OP_balance_grad: return follow_stats(o, r, i);
    default: return op_info[in->op].role == ROLE_UPDATE ? follow_update(o, r, i) : true;
    }
}

/* ---- running ---- */

static bool runs_something(const PlanInstr *in) { return op_info[in->op].launched; }
static bool is_collective(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_COMM; }

static Meeting *meeting_of(Oracle *o, const Instance *r, uint32_t i) {
    const Attrs *a = &o->p->instrs[i].attr;
    return &o->meeting[a->axes * COMM_PURPOSES + a->comm][r->meets[i]];
}

static bool can_start(const Oracle *o, const Instance *r, const Stream *s) {
    if (s->running || s->at == s->n) return false;
    const PlanInstr *in = &o->p->instrs[s->list[s->at]];
    for (uint32_t k = 0; k < in->n_edge; k++)
        if (!r->done[o->p->edges[in->first_edge + k]]) return false;
    return true;
}

static bool can_finish(Oracle *o, const Instance *r, const Stream *s) {
    if (!s->running) return false;
    uint32_t i = s->list[s->at];
    return !is_collective(&o->p->instrs[i]) ||
           meeting_of(o, r, i)->arrived == (1u << o->n_ranks) - 1;
}

static bool arrive(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    uint32_t self = (uint32_t)(r - o->rank);
    r->meets[i] = r->arrivals[in->attr.axes * COMM_PURPOSES + in->attr.comm]++;
    Meeting *m = meeting_of(o, r, i);
    m->arrived |= 1u << self;
    m->instr[self] = i;
    for (uint32_t other = 0; other < o->n_ranks; other++) {
        if (!(m->arrived >> other & 1)) continue;
        const PlanInstr *with = &p->instrs[m->instr[other]];
        bool same = with->op == in->op && with->n_out == in->n_out;
        for (uint32_t k = 0; same && k < in->n_out; k++)
            same = type_bytes(&p->values[in_of(p, i, k)].type) ==
                   type_bytes(&p->values[in_of(p, m->instr[other], k)].type);
        if (!same) return wrong(o, i, "meets another collective");
    }
    return true;
}

static bool writes_what_it_may(Oracle *o, const Instance *r, uint32_t i) {
    const Plan *p = o->p;
    for (uint32_t j = 0; j < p->instrs[i].n_out; j++)
        for (uint32_t s = 0; s < p->n_states; s++)
            if ((p->states[s].role == STATE_STEP || p->states[s].role == STATE_STAGING) &&
                overlap(cells_of(o, r, out_of(p, i, j)), o->state[s]))
                return wrong(o, i, "writes what the host writes");
    return true;
}

/* Saves that an instruction or the step's end waits for are over: what they wrote was the state. */
static bool end_saves(Oracle *o, Instance *r, uint32_t i, uint32_t n) {
    for (; r->saved < n && !o->evaluation; r->saved++) {
        uint32_t s = o->p->saves[r->saved].state;
        if (r->written[s] || !holds(r, o->state[s], token_of_state(o, s), (Cells){0}))
            return wrong(o, i, "a save wrote a state that the step had begun to change");
    }
    return true;
}

static bool start(Oracle *o, Instance *r, Stream *s) {
    const Plan *p = o->p;
    uint32_t i = s->list[s->at];
    const PlanInstr *in = &p->instrs[i];
    s->running = true;
    if (!end_saves(o, r, i, in->saves)) return false;
    if (in->op == OP_reshard)
        for (uint32_t k = 0; k < in->n_in; k++) {
            uint32_t token = expected_token(o, in_of(p, i, k));
            Cells c = cells_of(o, r, o->root[in_of(p, i, k)]);
            for (uint32_t at = c.from; at < c.to; at++)
                if (r->cell[at] == token) r->cell[at] = NOBODY;
        }
    if (!runs_something(in) && !is_collective(in)) return true;
    if (!operands_are_right(o, r, i, false) || !writes_what_it_may(o, r, i)) return false;
    if (is_collective(in) && !arrive(o, r, i)) return false;
    for (uint32_t j = 0; j < in->n_out; j++)
        fill(r, cells_of(o, r, out_of(p, i, j)), token_pending(o, i));
    return true;
}

static bool finish(Oracle *o, Instance *r, Stream *s) {
    const Plan *p = o->p;
    uint32_t i = s->list[s->at];
    const PlanInstr *in = &p->instrs[i];
    s->running = false;
    s->at++;
    r->done[i] = 1;
    if (!runs_something(in) && !is_collective(in)) return true;
    if (!operands_are_right(o, r, i, true)) return false;
    for (uint32_t j = 0; j < in->n_out; j++) {
        uint32_t v = out_of(p, i, j);
        if (!holds(r, cells_of(o, r, v), token_pending(o, i), (Cells){0}))
            return wrong(o, i, "another one writes where it does");
    }
    for (uint32_t j = 0; j < in->n_out; j++)
        fill(r, cells_of(o, r, out_of(p, i, j)), token_of_value(out_of(p, i, j)));
    return follow(o, r, i, is_collective(in) ? meeting_of(o, r, i) : NULL);
}

/* What the states hold when the program is over. */
static bool end_program(Oracle *o, Instance *r) {
    const Plan *p = o->p;
    Data *next = calloc(p->n_states + 1, sizeof *next);
    uint8_t *set = calloc(p->n_states + 1, 1);
    memcpy(next, r->state, p->n_states * sizeof *next);
    bool right = true;
    for (uint32_t k = 0; right && k < r->program->n_instr; k++) {
        uint32_t i = r->program->first_instr + k;
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_set_state) continue;
        uint32_t s = (uint32_t)in->attr.index, v = in_of(p, i, 0);
        const PlanValue *value = &p->values[v];
        if (set[s]++ || value->address != p->states[s].address ||
            type_bytes(&value->type) != type_bytes(&p->states[s].type) ||
            !holds(r, o->state[s], expected_token(o, v), (Cells){0}))
            right = wrong(o, i, "the state is not in its memory");
        next[s] = *data_of(o, r, v);
    }
    for (uint32_t s = 0; right && s < p->n_states; s++) {
        if (set[s] || holds(r, o->state[s], token_of_state(o, s), (Cells){0})) continue;
        if (p->states[s].role == STATE_GATHERED)
            next[s].version = -1; /* resharded */
        else
            right = wrong(o, UINT32_MAX, "a state is overwritten");
    }
    memcpy(r->state, next, p->n_states * sizeof *next);
    for (uint32_t s = 0; s < p->n_states; s++) r->written[s] |= set[s];
    free(next);
    free(set);
    return right;
}

static void begin_program(Oracle *o, Instance *r, const PlanProgram *program) {
    const Plan *p = o->p;
    r->program = program;
    for (uint32_t k = 0; k < o->n_cells; k++) r->cell[k] = NOBODY;
    for (uint32_t s = 0; s < p->n_states; s++) fill(r, o->state[s], token_of_state(o, s));
    memset(r->arrivals, 0, sizeof r->arrivals);
    for (int s = 0; s < STREAM_KINDS; s++) {
        r->stream[s].n = r->stream[s].at = 0;
        for (int k = 0; k < 2; k++) r->stream[s].priority[k] = random_below(o->random, 1000);
    }
    for (uint32_t k = 0; k < program->n_instr; k++) {
        uint32_t i = program->first_instr + k;
        Stream *s = &r->stream[p->instrs[i].stream];
        r->done[i] = 0;
        s->list[s->n++] = i;
    }
}

/* Starts or finishes what has the highest priority, now and then anything. */
static bool run_programs(Oracle *o) {
    for (;;) {
        Instance *best = NULL;
        Stream *stream = NULL;
        bool starts = false, left = false, any = random_below(o->random, 16) == 0;
        uint32_t highest = 0;
        for (uint32_t n = 0; n < o->n_ranks; n++)
            for (int s = 0; s < STREAM_KINDS; s++) {
                Instance *r = &o->rank[n];
                Stream *at = &r->stream[s];
                left |= at->at < at->n;
                bool start_now = can_start(o, r, at);
                if (!start_now && !can_finish(o, r, at)) continue;
                uint32_t priority =
                    1 + (any ? random_below(o->random, 1000) : at->priority[!start_now]);
                if (priority <= highest) continue;
                highest = priority;
                best = r;
                stream = at;
                starts = start_now;
            }
        if (!left) return true;
        if (!best) return wrong(o, UINT32_MAX, "nothing can go on");
        if (!(starts ? start(o, best, stream) : finish(o, best, stream))) return false;
    }
}

static const PlanCall *nth_call(const Plan *p, uint32_t role, uint32_t kind, uint32_t k) {
    for (uint32_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].role == role && p->calls[i].kind == kind && k-- == 0) return &p->calls[i];
    return NULL;
}

static bool run_calls(Oracle *o, uint32_t kind) {
    const Plan *p = o->p;
    o->call = 0;
    o->evaluation = kind == PLAN_EVALUATION;
    for (uint32_t k = 0;; k++) {
        const PlanCall *first = nth_call(p, o->rank[0].role, kind, k);
        int64_t times = first ? first->times : 0;
        for (uint32_t n = 0; n < o->n_ranks; n++) {
            const PlanCall *call = nth_call(p, o->rank[n].role, kind, k);
            if (!call != !first || (call && call->times != times))
                return wrong(o, UINT32_MAX, "ranks make different calls");
        }
        if (!first) return true;
        for (int64_t time = 0; time < times; time++, o->call++) {
            if (o->call >= CALLS) return wrong(o, UINT32_MAX, "too many calls");
            for (int c = 0; c < COMMS; c++)
                memset(o->meeting[c], 0, (p->n_instrs + 1) * sizeof *o->meeting[c]);
            for (uint32_t n = 0; n < o->n_ranks; n++)
                begin_program(o, &o->rank[n],
                              &p->programs[nth_call(p, o->rank[n].role, kind, k)->program]);
            if (!run_programs(o)) return false;
            for (uint32_t n = 0; n < o->n_ranks; n++)
                if (!end_program(o, &o->rank[n])) return false;
        }
    }
}

/* ---- a step and an evaluation ---- */

static void first_states(Oracle *o, Instance *r) {
    for (uint32_t s = 0; s < o->p->n_states; s++) {
        const PlanState *st = &o->p->states[s];
        Data d = {.group = st->group};
        d.count[STALE] = 1;
        switch (st->role) {
        case STATE_PARAM:
        case STATE_COPY: d = (Data){.kind = IS_SHARD, .group = st->group}; break;
        case STATE_MOMENT1:
        case STATE_MOMENT2:
            d = (Data){.kind = IS_MOMENT, .group = st->group};
            d.count[0] = st->role == STATE_MOMENT1 ? 1 : 2;
            break;
        case STATE_FACTORS: d.kind = IS_MEANS; break;
        case STATE_GRADIENT: d.kind = IS_GRADIENT; break;
        case STATE_METRIC: d.kind = IS_TERM, d.group = OP_cross_entropy; break;
        case STATE_GATHERED: d = (Data){.kind = IS_FLAT, .group = st->group, .version = -1}; break;
        default: d.kind = IS_OTHER;
        }
        r->state[s] = d;
    }
}

static bool check_step(Oracle *o, const Instance *r) {
    const Plan *p = o->p;
    for (uint32_t s = 0; s < p->n_states; s++) {
        const PlanState *st = &p->states[s];
        const Data *d = &r->state[s];
        bool trained = st->group >= 0 && p->groups[st->group].flags & GROUP_TRAINABLE;
        if ((st->role == STATE_PARAM || st->role == STATE_COPY) &&
            (d->kind != IS_SHARD || d->group != st->group || d->version != trained))
            return wrong(o, UINT32_MAX, "a group is not updated once");
        if ((st->role == STATE_MOMENT1 || st->role == STATE_MOMENT2) &&
            (d->kind != IS_MOMENT || d->group != st->group || d->version != 1 ||
             d->count[0] != (st->role == STATE_MOMENT1 ? 1 : 2)))
            return wrong(o, UINT32_MAX, "a moment is not updated once");
        if (st->role == STATE_FACTORS &&
            (d->kind != IS_MEANS || d->group != st->group || !d->version))
            return wrong(o, UINT32_MAX, "means are not kept");
        if (st->role == STATE_SCALE && d->kind != IS_SCALE)
            return wrong(o, UINT32_MAX, "the scale is not kept");
    }
    return true;
}

static bool check_evaluation(Oracle *o, const Instance *r, const bool *by_step) {
    const Plan *p = o->p;
    for (uint32_t s = 0; s < p->n_states; s++) {
        const Data *d = &r->state[s];
        if (p->states[s].role != STATE_METRIC || by_step[s]) continue;
        if (d->count[STALE] || d->kind != IS_TERM || d->count[0] != 1 || d->summed != o->samples)
            return wrong(o, UINT32_MAX, "a metric of the evaluation is not there");
    }
    return true;
}

static bool run_once(Oracle *o) {
    const Plan *p = o->p;
    bool by_step[256] = {0};
    o->updates = 0;
    for (uint32_t n = 0; n < o->n_ranks; n++) {
        first_states(o, &o->rank[n]);
        o->rank[n].saved = 0;
        memset(o->rank[n].written, 0, p->n_states);
    }
    if (!run_calls(o, PLAN_STEP)) return false;
    for (uint32_t n = 0; n < o->n_ranks; n++)
        if (!end_saves(o, &o->rank[n], UINT32_MAX, (uint32_t)p->n_saves)) return false;
    for (uint32_t n = 0; n < o->n_ranks; n++)
        if (!check_step(o, &o->rank[n])) return false;
    if (p->n_states > ARRAY_LEN(by_step)) BUG("too many states for the oracle");
    for (uint32_t s = 0; s < p->n_states; s++) by_step[s] = !o->rank[0].state[s].count[STALE];
    if (!nth_call(p, 0, PLAN_EVALUATION, 0)) return true;
    o->updates = 1;
    if (!run_calls(o, PLAN_EVALUATION)) return false;
    for (uint32_t n = 0; n < o->n_ranks; n++)
        if (!check_evaluation(o, &o->rank[n], by_step)) return false;
    return true;
}

static void oracle_open(Oracle *o) {
    const Plan *p = o->p;
    for (uint32_t k = 0; k < INSTANCES; k++)
        o->value[k] = calloc(p->n_values + 1, sizeof *o->value[k]);
    o->state = calloc(p->n_states + 1, sizeof *o->state);
    o->root = calloc(p->n_values + 1, sizeof *o->root);
    o->offset = calloc(p->n_values + 1, sizeof *o->offset);
    for (int c = 0; c < COMMS; c++) o->meeting[c] = calloc(p->n_instrs + 1, sizeof(Meeting));
    cut_cells(o);
    for (uint32_t v = 0; v < p->n_values; v++) o->root[v] = v;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_view && in->op != OP_reshape) continue;
        uint32_t from = in_of(p, i, 0), v = out_of(p, i, 0);
        o->root[v] = o->root[from];
        o->offset[v] = o->offset[from] + (in->op == OP_view ? (uint64_t)in->attr.offset : 0);
    }
    for (uint32_t n = 0; n < o->n_ranks; n++) {
        Instance *r = &o->rank[n];
        r->role = n ? (uint32_t)p->n_roles - 1 : 0;
        r->cell = calloc(o->n_cells + 1, sizeof *r->cell);
        r->value = calloc(p->n_values + 1, sizeof *r->value);
        r->state = calloc(p->n_states + 1, sizeof *r->state);
        r->done = calloc(p->n_instrs + 1, 1);
        r->meets = calloc(p->n_instrs + 1, sizeof *r->meets);
        r->written = calloc(p->n_states + 1, 1);
        for (int s = 0; s < STREAM_KINDS; s++)
            r->stream[s].list = calloc(p->n_instrs + 1, sizeof(uint32_t));
    }
}

static void oracle_close(Oracle *o) {
    for (uint32_t k = 0; k < INSTANCES; k++) free(o->value[k]);
    free(o->state);
    free(o->root);
    free(o->offset);
    for (int c = 0; c < COMMS; c++) free(o->meeting[c]);
    for (uint32_t n = 0; n < o->n_ranks; n++) {
        Instance *r = &o->rank[n];
        free(r->cell);
        free(r->value);
        free(r->state);
        free(r->done);
        free(r->meets);
        free(r->written);
        for (int s = 0; s < STREAM_KINDS; s++) free(r->stream[s].list);
    }
}

const char *oracle_run(const Plan *p, uint32_t runs, Random *r) {
    static char fault[256];
    Oracle o = {.p = p, .random = r, .n_ranks = p->settings->ranks > 1 ? 2 : 1};
    if (p->n_groups > 64) BUG("too many groups for the oracle");
    Mesh mesh = plan_mesh(p);
    o.samples = mesh_sample_axes(&mesh);
    oracle_open(&o);
    const char *size = sizes_fault(p), *unsaved = saves_fault(p);
    if (size) wrong(&o, UINT32_MAX, size);
    if (unsaved) wrong(&o, UINT32_MAX, unsaved);
    for (uint32_t k = 0; !o.fault[0] && k < runs; k++) {
        for (uint32_t n = 0; n < o.n_ranks; n++)
            for (int s = 0; s < STREAM_KINDS; s++) o.rank[n].stream[s].running = false;
        run_once(&o);
    }
    oracle_close(&o);
    memcpy(fault, o.fault, sizeof fault);
    return fault[0] ? fault : NULL;
}

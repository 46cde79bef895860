/* The oracle: runs one step and one evaluation of a plan on one or two ranks, with tokens in place
 * of numbers, and reports the first error.
 *
 * Memory is cut into cells at every address where some value or state begins or ends. A cell holds
 * the token of its last writer: a value, a state as it was when the program started, nothing, or an
 * instruction that is still writing. An instruction starts, runs, and finishes; streams and ranks
 * interleave as a scheduler with random priorities decides, restricted only by the order on a
 * stream, edges that have not finished, and collectives that not all ranks have reached. When an
 * instruction starts and again when it finishes, every byte that it reads must hold the token of
 * its operand; while it runs, the bytes that it writes belong to no value.
 *
 * Each token also records what the value represents: a version of a group's parameters, the
 * gradient of a group with a count for each call of the step, a sum of losses, a norm over some
 * groups. Updates check their operands, and the end of the step checks the states. The inside of a
 * gradient op is not followed: pack makes one contribution of the call from its operands. Saves
 * begin with the step and end when an instruction waits for them, or with the step. They must find
 * the state as it was when the step began. Nothing here comes from the checker. Two ranks represent
 * all: of one role, or of the first and the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate_oracle.h"

enum { NOBODY = 0 };
static uint32_t token_of_value(uint32_t v) { return v + 1; }
static uint32_t token_of_state(const Oracle *o, uint32_t s) {
    return (uint32_t)o->p->n_values + 1 + s;
}
static uint32_t token_pending(const Oracle *o, uint32_t i) {
    return (uint32_t)(o->p->n_values + o->p->n_states) + 1 + i;
}

bool oracle_wrong(Oracle *o, uint32_t i, const char *what) {
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

uint32_t oracle_in(const Plan *p, uint32_t i, uint32_t k) {
    return p->operands[p->instrs[i].first_in + k];
}
uint32_t oracle_out(const Plan *p, uint32_t i, uint32_t k) { return p->instrs[i].first_out + k; }

static uint32_t expected_token(const Oracle *o, uint32_t v) {
    uint32_t root = o->root[v];
    const PlanInstr *def = &o->p->instrs[o->p->values[root].def];
    return def->op == OP_state ? token_of_state(o, (uint32_t)def->attr.index)
                               : token_of_value(root);
}

const Data *oracle_data(const Oracle *o, const Instance *r, uint32_t v) {
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
    const PlanValue *from = &p->values[oracle_in(p, i, k)], *to = &p->values[oracle_out(p, i, k)];
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
        return oracle_wrong(o, i, "a view is not inside its value");
    const Data *d = oracle_data(o, r, v);
    if (d->kind < IS_SHARD || d->kind > IS_FLAT) return true;
    const PlanGroup *g = &p->groups[d->group];
    uint64_t element = dtype_bytes(p->values[root].type.dtype);
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *a = &p->group_params[g->first_param + k];
        if ((uint64_t)a->offset * element == offset &&
            (uint64_t)type_elements(&p->params[a->param].type) * element == bytes)
            return !a->chunk || (uint64_t)a->chunk * element >= bytes ||
                   oracle_wrong(o, i, "a view shows chunks");
    }
    return oracle_wrong(o, i, "a view shows no parameter");
}

static bool reads_parameters(uint16_t op) {
    return op == OP_unshard || op == OP_copy_out || op == OP_cast || op == OP_retain ||
           op == OP_fetch || op == OP_factored_sums || op == OP_amax || op == OP_quantize ||
           op == OP_dequantize || op_info[op].role == ROLE_UPDATE;
}

static int32_t is_trained(const Plan *p, int32_t group) {
    return group >= 0 && p->groups[group].flags & GROUP_TRAINABLE;
}

/* All operands are there, and results will not hurt them. */
static bool operands_are_right(Oracle *o, Instance *r, uint32_t i, bool finishing) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint32_t v = oracle_in(p, i, k);
        if (p->values[v].type.dtype == DT_TOKEN) continue;
        Cells own = {0}, from = cells_of(o, r, v);
        for (uint32_t j = 0; j < in->n_out; j++) {
            uint32_t out = oracle_out(p, i, j);
            if (p->values[out].type.dtype == DT_TOKEN || !overlap(from, cells_of(o, r, out)))
                continue;
            own = cells_of(o, r, out);
            bool same = from.from == own.from && from.to == own.to;
            bool gathered = j == k && is_in_its_slot(o, r, i, k);
            if (in->op != OP_pack && !gathered && !(same && works_in_place(p, i, k, j)))
                return oracle_wrong(o, i, "a result is written over an operand");
        }
        if (!holds(r, from, expected_token(o, v), finishing ? own : (Cells){0}))
            return oracle_wrong(o, i, "an operand is not in its memory");
        if (!view_is_right(o, r, i, v)) return false;
        const Data *d = oracle_data(o, r, v);
        bool parameters = d->kind >= IS_SHARD && d->kind <= IS_FLAT && in->op != OP_evict;
        bool next =
            in->op == OP_cast && op_info[p->instrs[p->values[v].def].op].role == ROLE_UPDATE;
        if ((parameters || d->kind == IS_LARGEST) &&
            d->version != (int32_t)o->updates * is_trained(p, d->group) + next)
            return oracle_wrong(o, i, "reads parameters of another step");
        if (parameters && o->root[v] == v && !reads_parameters(in->op))
            return oracle_wrong(o, i, "reads flat parameters as a tensor");
    }
    return true;
}

/* ---- running ---- */

static bool runs_something(const PlanInstr *in) { return op_info[in->op].launched; }
static bool is_collective(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_COMM; }

static int64_t comm_of(const Attrs *a) { return a->axes * COMM_PURPOSES + a->comm; }

static Meeting *meeting_of(Oracle *o, const Instance *r, uint32_t i) {
    const Attrs *a = &o->p->instrs[i].attr;
    return &o->meeting[comm_of(a)][r->meets[i]];
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
    r->meets[i] = r->arrivals[comm_of(&in->attr)]++;
    Meeting *m = meeting_of(o, r, i);
    m->arrived |= 1u << self;
    m->instr[self] = i;
    for (uint32_t other = 0; other < o->n_ranks; other++) {
        if (!(m->arrived >> other & 1)) continue;
        const PlanInstr *with = &p->instrs[m->instr[other]];
        bool same = with->op == in->op && with->n_out == in->n_out;
        for (uint32_t k = 0; same && k < in->n_out; k++)
            same = type_bytes(&p->values[oracle_in(p, i, k)].type) ==
                   type_bytes(&p->values[oracle_in(p, m->instr[other], k)].type);
        if (!same) return oracle_wrong(o, i, "meets another collective");
    }
    return true;
}

static bool writes_what_it_may(Oracle *o, const Instance *r, uint32_t i) {
    const Plan *p = o->p;
    for (uint32_t j = 0; j < p->instrs[i].n_out; j++)
        for (uint32_t s = 0; s < p->n_states; s++)
            if ((p->states[s].role == STATE_STEP || p->states[s].role == STATE_STAGING) &&
                overlap(cells_of(o, r, oracle_out(p, i, j)), o->state[s]))
                return oracle_wrong(o, i, "writes what the host writes");
    return true;
}

/* Saves that an instruction or the step's end waits for are over: what they wrote was the state. */
static bool end_saves(Oracle *o, Instance *r, uint32_t i, uint32_t n) {
    for (; r->saved < n && !o->evaluation; r->saved++) {
        uint32_t s = o->p->saves[r->saved].state;
        if (r->written[s] || !holds(r, o->state[s], token_of_state(o, s), (Cells){0}))
            return oracle_wrong(o, i, "a save wrote a state that the step had begun to change");
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
            uint32_t token = expected_token(o, oracle_in(p, i, k));
            Cells c = cells_of(o, r, o->root[oracle_in(p, i, k)]);
            for (uint32_t at = c.from; at < c.to; at++)
                if (r->cell[at] == token) r->cell[at] = NOBODY;
        }
    if (!runs_something(in) && !is_collective(in)) return true;
    if (!operands_are_right(o, r, i, false) || !writes_what_it_may(o, r, i)) return false;
    if (is_collective(in) && !arrive(o, r, i)) return false;
    for (uint32_t j = 0; j < in->n_out; j++)
        fill(r, cells_of(o, r, oracle_out(p, i, j)), token_pending(o, i));
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
        uint32_t v = oracle_out(p, i, j);
        if (!holds(r, cells_of(o, r, v), token_pending(o, i), (Cells){0}))
            return oracle_wrong(o, i, "another one writes where it does");
    }
    for (uint32_t j = 0; j < in->n_out; j++)
        fill(r, cells_of(o, r, oracle_out(p, i, j)), token_of_value(oracle_out(p, i, j)));
    return oracle_follow(o, r, i, is_collective(in) ? meeting_of(o, r, i) : NULL);
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
        uint32_t s = (uint32_t)in->attr.index, v = oracle_in(p, i, 0);
        const PlanValue *value = &p->values[v];
        if (set[s]++ || value->address != p->states[s].address ||
            type_bytes(&value->type) != type_bytes(&p->states[s].type) ||
            !holds(r, o->state[s], expected_token(o, v), (Cells){0}))
            right = oracle_wrong(o, i, "the state is not in its memory");
        next[s] = *oracle_data(o, r, v);
    }
    for (uint32_t s = 0; right && s < p->n_states; s++) {
        if (set[s] || holds(r, o->state[s], token_of_state(o, s), (Cells){0})) continue;
        if (p->states[s].role == STATE_GATHERED)
            next[s].version = -1; /* resharded */
        else
            right = oracle_wrong(o, UINT32_MAX, "a state is overwritten");
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
        if (!best) return oracle_wrong(o, UINT32_MAX, "nothing can go on");
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
                return oracle_wrong(o, UINT32_MAX, "ranks make different calls");
        }
        if (!first) return true;
        for (int64_t time = 0; time < times; time++, o->call++) {
            if (o->call >= CALLS) return oracle_wrong(o, UINT32_MAX, "too many calls");
            for (int c = 0; c < COMMS; c++)
                if (o->meeting[c])
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
        case STATE_MOMENT3:
        case STATE_MOMENT4:
            d = (Data){.kind = IS_MOMENT, .group = st->group};
            d.count[0] = moment_number(st->role);
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
            return oracle_wrong(o, UINT32_MAX, "a group is not updated once");
        if (moment_number(st->role) && (d->kind != IS_MOMENT || d->group != st->group ||
                                        d->version != 1 || d->count[0] != moment_number(st->role)))
            return oracle_wrong(o, UINT32_MAX, "a moment is not updated once");
        if (st->role == STATE_FACTORS &&
            (d->kind != IS_MEANS || d->group != st->group || !d->version))
            return oracle_wrong(o, UINT32_MAX, "means are not kept");
        if (st->role == STATE_SCALE && d->kind != IS_SCALE)
            return oracle_wrong(o, UINT32_MAX, "the scale is not kept");
    }
    return true;
}

static bool check_evaluation(Oracle *o, const Instance *r, const bool *by_step) {
    const Plan *p = o->p;
    for (uint32_t s = 0; s < p->n_states; s++) {
        const Data *d = &r->state[s];
        if (p->states[s].role != STATE_METRIC || by_step[s]) continue;
        if (d->count[STALE] || d->kind != IS_TERM || d->count[0] != 1 || d->summed != o->samples)
            return oracle_wrong(o, UINT32_MAX, "a metric of the evaluation is not there");
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
    cut_cells(o);
    for (uint32_t v = 0; v < p->n_values; v++) o->root[v] = v;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        Meeting **meeting = is_collective(in) ? &o->meeting[comm_of(&in->attr)] : NULL;
        if (meeting && !*meeting) *meeting = calloc(p->n_instrs + 1, sizeof(Meeting));
        if (in->op != OP_view && in->op != OP_reshape) continue;
        uint32_t from = oracle_in(p, i, 0), v = oracle_out(p, i, 0);
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
    if (size) oracle_wrong(&o, UINT32_MAX, size);
    if (unsaved) oracle_wrong(&o, UINT32_MAX, unsaved);
    for (uint32_t k = 0; !o.fault[0] && k < runs; k++) {
        for (uint32_t n = 0; n < o.n_ranks; n++)
            for (int s = 0; s < STREAM_KINDS; s++) o.rank[n].stream[s].running = false;
        run_once(&o);
    }
    oracle_close(&o);
    memcpy(fault, o.fault, sizeof fault);
    return fault[0] ? fault : NULL;
}

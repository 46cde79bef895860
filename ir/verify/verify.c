/* The verifier: is this graph one that the next pass may trust?
 *
 * Rules are rows of verify_rules.def. They are checked in this order: the tables, where each op is,
 * which programs there are; then, program by program, the operands and types of each op, and what
 * the program as a whole must do. Each check may rely on the earlier ones; if an early rule is
 * broken, the checks that depend on it are skipped. Everything is linear in the graph except the
 * sorting of names. Whether streams and edges order all accesses that they must is not checked
 * here: plan_check proves it on the finished plan.
 */
#include <string.h>

#include "text.h"
#include "verify.h"

/* ---- graph-9: ops and values belong together ---- */

static bool number_op(Verify *v, OpId id, uint32_t *ops, uint32_t *values) {
    const Graph *g = v->g;
    if (id >= g->ops.n) {
        verify_broken(v, RULE_GRAPH_9, NULL, "op %u does not exist", id);
        return false;
    }
    const Op *op = &g->ops.at[id];
    if (v->op_number[id] != NO_OP) {
        verify_broken(v, RULE_GRAPH_9, op, "is in the programs twice");
        return false;
    }
    v->op_number[id] = (*ops)++;
    bool fits = (unsigned)op->kind < OP_COUNT && op->path &&
                (!op->n_out || (op->out < g->values.n && op->n_out <= g->values.n - op->out));
    for (uint32_t j = 0; fits && j < op->n_out; j++) {
        fits = g->values.at[op->out + j].def == id && g->values.at[op->out + j].result == j &&
               g->values.at[op->out + j].type.rank <= MAX_RANK; /* the rest in check_alike */
        v->value_number[op->out + j] = (*values)++;
    }
    if (!fits) verify_broken(v, RULE_GRAPH_9, NULL, "op %u does not own its results", id);
    return fits;
}

static bool number_all(Verify *v) {
    const Graph *g = v->g;
    v->op_number = arena_none(v->arena, uint32_t, g->ops.n);
    v->value_number = arena_none(v->arena, uint32_t, g->values.n);
    uint32_t ops = 0, values = 0;
    for (uint32_t i = 0; i < g->programs.n; i++)
        for (uint32_t k = 0; k < g->programs.at[i].ops.n; k++)
            if (!number_op(v, g->programs.at[i].ops.at[k], &ops, &values)) return false;
    return true;
}

/* ---- graph-1 to graph-4, op by op ---- */

#define NO_SOUND_TYPE UINT32_MAX /* of a value that is defined: said where it is made */

static bool is_scratch(const Graph *g, ValueId v) {
    return op_scratch(value_maker(g, v)->kind) == (int)g->values.at[v].result;
}

static bool check_operands(Verify *v, const Op *op) {
    bool good = true;
    for (uint32_t i = 0; i < op->n_in; i++) {
        ValueId x = op->in[i];
        if (x < v->g->values.n && v->defined[x] == v->program_row + 1 && !is_scratch(v->g, x))
            continue;
        good = false;
        if (x < v->g->values.n && v->defined[x] == NO_SOUND_TYPE) continue;
        if (x >= v->g->values.n || v->value_number[x] == NO_VALUE)
            verify_broken(v, RULE_GRAPH_1, op,
                          "operand %u has no defining instruction in a program", i);
        else if (v->defined[x] == v->program_row + 1)
            verify_broken(v, RULE_GRAPH_1, op, "operand %%%u is scratch of the op that defines it",
                          v->value_number[x]);
        else
            verify_broken(v, RULE_GRAPH_1, op, "operand %%%u is read before it is defined",
                          v->value_number[x]);
    }
    for (uint32_t j = 0; j < op->n_out; j++) v->defined[op->out + j] = v->program_row + 1;
    return good;
}

/* Between wrap and shard, level shard still has the ops of level train. */
static void check_level(Verify *v, const Op *op) {
    uint32_t allowed = 1u << v->g->level;
    if (v->g->level == LEVEL_SHARD && !v->grouped) allowed |= L_TRAIN;
    if (!(op_info[op->kind].levels & allowed))
        verify_broken(v, RULE_GRAPH_2, op, "is not allowed at level %s", level_name(v->g->level));
    if (v->g->level < LEVEL_SCHED && (op->stream != STREAM_COMPUTE || op->n_edge))
        verify_broken(v, RULE_GRAPH_10, op, "has a stream or waits at level %s",
                      level_name(v->g->level));
    if (op->stream >= STREAM_KINDS || op->phase >= PHASE_COUNT)
        verify_broken(v, RULE_GRAPH_4, op, "has an unknown stream or phase");
    const OpInfo *info = &op_info[op->kind];
    bool again = info->effect == EFFECT_PURE || op_changes_placement(op->kind);
    if (op->recomputed && (op->phase != PHASE_BACKWARD || info->role != ROLE_FORWARD || !again ||
                           info->term != TERM_NONE))
        verify_broken(v, RULE_TRAIN_6, op, "is in phase %s, where forward cannot be recomputed",
                      phase_name(op->phase));
    if (op->unit < NO_INDEX || op->unit >= (int64_t)v->g->units.n)
        verify_broken(v, RULE_GRAPH_4, op, "has unit %d, but the graph has %u units", op->unit,
                      v->g->units.n);
}

/* The number of rows of a table that an attribute may name, or -1 where op_infer looks it up. */
static int64_t rows_of(const Verify *v, OpKind kind, int rows) {
    switch ((OpRows)rows) {
    case ROWS_UNITS: return v->g->units.n;
    case ROWS_GROUPS: return v->g->groups.n;
    case ROWS_FORMULAS: return v->g->formulas.n;
    case ROWS_OF_OP:
        if (op_info[kind].role == ROLE_UPDATE) return v->g->params.n;
        return -1;
    case ROWS_PARAMS:
    case ROWS_STATES:
    case ROWS_FIELDS:
    case ROWS_NONE: return -1;
    }
    return -1;
}

static void check_attrs(Verify *v, const Op *op) {
    for (uint64_t rest = op_info[op->kind].attrs; rest; rest &= rest - 1) {
        const TextField *f = &attr_fields[__builtin_ctzll(rest)];
        int64_t rows = rows_of(v, op->kind, f->rows);
        bool fits = text_field_in_range(f, op->attr);
        if (fits && rows >= 0) fits = text_field_get(f, op->attr) < rows;
        if (fits) continue;
        Buf text = {0};
        text_field_print(f, op->attr, &v->g->policy.mesh, &text);
        verify_broken(v, RULE_GRAPH_4, op, "%.*s", (int)text.n, text.at);
        buf_free(&text);
    }
}

static bool check_results(Verify *v, const Op *op) {
    for (uint32_t j = 0; j < op->n_out; j++) {
        if (type_sound(&verify_value(v, op->out + j)->type)) continue;
        verify_broken(v, RULE_GRAPH_9, op, "result %u has no type", j);
        v->defined[op->out + j] = NO_SOUND_TYPE; /* nothing that reads it is looked at */
        return false;
    }
    return true;
}

static void check_types(Verify *v, const Op *op) {
    Type few[FEW_TYPES];
    const Type *types = op_types(v->g, op, few);
    const char *problem = op_check_types(v->g, op->kind, op->attr, op->n_in, types, op->n_out,
                                         types + op->n_in, v->arena);
    if (problem) verify_broken(v, RULE_GRAPH_3, op, "%s", problem);
}

static uint64_t hash_type(uint64_t h, const Type *t) {
    uint64_t sum = (uint64_t)t->dtype << 40 | (uint64_t)t->rank << 32 | t->pitch;
    for (int i = 0; i < t->rank; i++) sum = sum * 0x9e3779b97f4a7c15u + (uint64_t)t->dim[i];
    return hash_word(h, sum);
}

static bool same_type(const Graph *g, ValueId a, ValueId b) {
    return type_equal(&g->values.at[a].type, &g->values.at[b].type);
}

/* The op has an index into a table, and its rule looks at that row. Do rows a and b look the same
 * to it? */
static bool same_row(const Graph *g, const Op *op, int64_t a, int64_t b) {
    if (a == b) return true;
    switch ((OpRows)op_info[op->kind].rows) {
    case ROWS_PARAMS:
        return MIN(a, b) >= 0 && MAX(a, b) < g->params.n &&
               g->params.at[a].compute_dtype == g->params.at[b].compute_dtype &&
               type_equal(&g->params.at[a].type, &g->params.at[b].type);
    case ROWS_STATES:
        return MIN(a, b) >= 0 && MAX(a, b) < g->states.n &&
               type_equal(&g->states.at[a].type, &g->states.at[b].type);
    case ROWS_FIELDS:
    case ROWS_FORMULAS:
    case ROWS_UNITS:
    case ROWS_GROUPS:
    case ROWS_OF_OP:
    case ROWS_NONE: return false;
    }
    return false;
}

/* If the attributes and types of one of these ops satisfy its rule, do the other's, because all
 * that the rule looks at is equal? */
static bool are_alike(const Graph *g, const Op *a, const Op *b) {
    if (a->kind != b->kind || a->n_in != b->n_in || a->n_out != b->n_out) return false;
    for (uint32_t i = 0; i < a->n_in; i++)
        if (!same_type(g, a->in[i], b->in[i])) return false;
    for (uint32_t j = 0; j < a->n_out; j++)
        if (!same_type(g, a->out + j, b->out + j)) return false;
    if (a->attr == b->attr) return true;
    Attrs other = *b->attr;
    if (op_info[a->kind].attrs & A_index) other.index = a->attr->index;
    return !memcmp(&other, a->attr, sizeof other) && same_row(g, a, a->attr->index, b->attr->index);
}

/* Equal for ops that are alike. */
static uint64_t hash_op(const Graph *g, const Op *op) {
    uint64_t h = hash_word(op->kind, (uint64_t)op->n_in << 32 | op->n_out);
    for (uint32_t i = 0; i < op->n_in; i++) h = hash_type(h, &g->values.at[op->in[i]].type);
    for (uint32_t j = 0; j < op->n_out; j++) h = hash_type(h, &g->values.at[op->out + j].type);
    for (uint64_t rest = op_info[op->kind].attrs & ~A_index; rest; rest &= rest - 1) {
        uint64_t word;
        memcpy(&word, (const char *)op->attr + sizeof word * (size_t)__builtin_ctzll(rest),
               sizeof word);
        h = hash_word(h, word);
    }
    return h;
}

/* Most ops have the attributes and types of the same op in another layer, so each such set is
 * checked only once. */
static void check_alike(Verify *v, OpId id) {
    const Graph *g = v->g;
    const Op *op = &g->ops.at[id];
    uint32_t k = (uint32_t)(hash_op(g, op) >> 32) & v->fitting_mask;
    for (; v->fitting[k]; k = (k + 1) & v->fitting_mask)
        if (are_alike(g, &g->ops.at[v->fitting[k] - 1], op)) return;
    int before = v->broken;
    check_attrs(v, op);
    if (check_results(v, op)) check_types(v, op);
    if (v->broken == before) v->fitting[k] = id + 1; /* else the next one like it is wrong, too */
}

/* Whether the ops of the program can be looked at more closely. */
static bool check_ops(Verify *v) {
    int before = v->broken;
    for (uint32_t k = 0; k < v->program->ops.n; k++) {
        const Op *op = verify_op(v, k);
        check_level(v, op);
        if (check_operands(v, op))
            check_alike(v, v->program->ops.at[k]);
        else
            check_attrs(v, op);
    }
    return v->broken == before;
}

static void make_tables(Verify *v) {
    v->defined = arena_array(v->arena, uint32_t, v->g->values.n);
    v->fitting_mask = 63;
    while (v->fitting_mask < 2 * v->g->ops.n) v->fitting_mask = 2 * v->fitting_mask + 1;
    v->fitting = arena_array(v->arena, OpId, v->fitting_mask + 1);
}

static void verify_all(Verify *v) {
    if (!verify_tables(v) || !number_all(v)) return;
    make_tables(v);
    verify_program_set(v);
    uint32_t number = 0;
    for (uint32_t i = 0; i < v->g->programs.n; i++) {
        v->program = &v->g->programs.at[i];
        v->program_row = i;
        v->first_number = number;
        number += v->program->ops.n;
        if (!check_ops(v)) continue;
        /* What stages do together, the plan's proofs follow. */
        bool alone = !graph_has_stages(v->g) || v->g->level < LEVEL_COMM;
        if (alone) verify_training(v);
        verify_host(v);
        if (alone) verify_streams(v);
        if (!v->reported[RULE_SCHED_4]) verify_order(v);
    }
}

int graph_verify(const Graph *g) {
    Verify v = {.g = g, .arena = arena_new(), .grouped = g->groups.n > 0};
    verify_all(&v);
    arena_free(v.arena);
    return v.broken;
}

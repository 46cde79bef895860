/* Reports of broken rules; the tables of a graph: rows that exist, sound types, unique names
 * (graph-5, graph-6, graph-8), policies in range (graph-11), and the layout of units and groups
 * (shard-1 to shard-3). */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "residency.h"
#include "text.h"
#include "verify.h"

/* ---- reports ---- */

enum { REPORTS_A_RULE = 3 };

const VerifyRule verify_rules[] = {
#define RULE(name, id, claim) {id, claim},
#include "verify_rules.def"
#undef RULE
};
const int n_verify_rules = RULE_COUNT;

void verify_broken(Verify *v, Rule rule, const Op *op, const char *format, ...) {
    v->broken++;
    if (++v->reported[rule] > REPORTS_A_RULE) return;
    Arena *a = v->g->diags->arena;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(a, format, args);
    va_end(args);
    Span none = {0};
    const char *where = "";
    if (op && v->op_number) {
        where = arena_printf(a, "#%u %s%s%s: ", v->op_number[op - v->g->ops.at],
                             op_info[op->kind].name, *op->path ? " of " : "", op->path);
        if (v->program)
            where = arena_printf(a, "program %s, %s", program_name(v->program->kind), where);
    } else if (v->program) {
        where = arena_printf(a, "program %s: ", program_name(v->program->kind));
    }
    diag_report(v->g->diags, E_graph_rule, op ? op->span : none, verify_rules[rule].claim,
                "%s: %s%s", verify_rules[rule].id, where, text);
}

static void widen(Arena *a, NumberSet *set) {
    NumberSet wider = {.capacity = MAX(2 * set->capacity, 64u)};
    wider.at = arena_array(a, uint64_t, wider.capacity);
    for (uint32_t k = 0; k < set->capacity; k++) number_is_new(a, &wider, set->at[k]);
    *set = wider;
}

bool number_is_new(Arena *a, NumberSet *set, uint64_t number) {
    if (!number) return false;
    if (2 * set->n >= set->capacity) widen(a, set);
    uint32_t mask = set->capacity - 1, k = (uint32_t)(number >> 32) & mask;
    for (; set->at[k]; k = (k + 1) & mask)
        if (set->at[k] == number) return false;
    set->at[k] = number;
    set->n++;
    return true;
}

/* ---- rows ---- */

static bool is_row(int64_t row, uint32_t n) { return row >= 0 && row < (int64_t)n; }
static bool is_row_or_none(int64_t row, uint32_t n) { return row == NO_INDEX || is_row(row, n); }

/* ---- graph-5 ---- */

#define NEED(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) verify_broken(v, RULE_GRAPH_5, NULL, __VA_ARGS__);                       \
    } while (0)

static void check_params(Verify *v) {
    const Graph *g = v->g;
    for (uint32_t i = 0; i < g->modules.n; i++)
        NEED(is_row_or_none(g->modules.at[i].parent, i), "module %u: parent %d is not before it", i,
             g->modules.at[i].parent);
    for (uint32_t i = 0; i < g->params.n; i++) {
        const Param *p = &g->params.at[i];
        NEED(is_row(p->name.module, g->modules.n), "param %u: module %d does not exist", i,
             p->name.module);
        for (uint32_t k = 0; k < p->aliases.n; k++)
            NEED(is_row(p->aliases.at[k].module, g->modules.n),
                 "param %u: module %d does not exist", i, p->aliases.at[k].module);
        NEED(type_sound(&p->type) && !p->type.pitch && dtype_is_float(p->type.dtype),
             "param %u: type %s", i, type_text(v->arena, &p->type));
        NEED(dtype_is_float(p->compute_dtype), "param %u: compute dtype %s", i,
             dtype_name(p->compute_dtype));
        NEED(p->reduce_dtype == DT_NONE || dtype_is_float(p->reduce_dtype),
             "param %u: reduce dtype %s", i, dtype_name(p->reduce_dtype));
        NEED(tensor_cut_is_sound(&p->cut, &g->policy.mesh, p->type.dim, p->type.rank, false) ||
                 tensor_cut_is_sound(&p->cut, &g->policy.mesh, p->type.dim, p->type.rank, true),
             "param %u: its cut does not fit the mesh or its type", i);
        AxisSet whole = mesh_cut_axes(&g->policy.mesh) & ~p->cut.axes;
        NEED(!(p->partial & ~(whole | (p->readers ? mesh_stage_axes(&g->policy.mesh) : 0))),
             "param %u: partial over axes along which it is not whole", i);
        NEED(!p->copy_of || (is_row(p->copy_of - 1, i) && !g->params.at[p->copy_of - 1].copy_of &&
                             type_equal(&p->type, &g->params.at[p->copy_of - 1].type)),
             "param %u: a copy of param %d", i, p->copy_of - 1);
        NEED(!i || p->copy_of || !g->params.at[i - 1].copy_of, "param %u: it comes after copies",
             i);
        NEED(p->split_axis >= 0 && p->split_axis < MAX(p->type.rank, 1), "param %u: axis %lld", i,
             (long long)p->split_axis);
    }
}

/* Every policy is in the range of its row, and the mesh has axes of different names. */
static void check_policy(Verify *v) {
    const Policy *p = &v->g->policy;
    for (uint32_t i = 0; i < n_policy_fields; i++) {
        const TextField *f = &policy_fields[i];
        if (text_field_in_range(f, p)) continue;
        char text[40], least[40], most[40];
        double x = f->kind == TEXT_REAL ? text_field_real(f, p) : (double)text_field_get(f, p);
        verify_broken(v, RULE_GRAPH_11, NULL, "%s = %s, not in %s to %s", f->name,
                      double_text(x, text), double_text(f->least, least),
                      double_text(f->most, most));
    }
    for (int a = 0; a < p->mesh.n; a++)
        for (int b = 0; b < a; b++)
            if (p->mesh.axis[a].role == p->mesh.axis[b].role)
                verify_broken(v, RULE_GRAPH_11, NULL, "the mesh has two axes `%s`",
                              axis_name(p->mesh.axis[a].role));
}

static void check_states(Verify *v) {
    const Graph *g = v->g;
    for (uint32_t i = 0; i < g->states.n; i++) {
        const State *s = &g->states.at[i];
        NEED(is_row_or_none(s->group, g->groups.n), "state \"%s\": group %d does not exist",
             s->name, s->group);
        NEED(type_sound(&s->type) && !s->type.pitch && s->type.dtype != DT_TOKEN,
             "state \"%s\": type %s", s->name, type_text(v->arena, &s->type));
    }
    for (uint32_t i = 0; i < g->fields.n; i++) {
        const Field *f = &g->fields.at[i];
        NEED(type_sound(&f->type) && !f->type.pitch && f->type.dtype != DT_TOKEN,
             "field \"%s\": type %s", f->name, type_text(v->arena, &f->type));
        NEED(f->staging % 64 == 0, "field \"%s\": staging offset %llu", f->name,
             (unsigned long long)f->staging);
        NEED(is_row_or_none(f->of, i), "field \"%s\": it has samples of field %d", f->name, f->of);
    }
}

static void check_rows_of_units(Verify *v) {
    const Graph *g = v->g;
    for (uint32_t i = 0; i < g->units.n; i++) {
        const Unit *u = &g->units.at[i];
        for (uint32_t k = 0; k < u->modules.n; k++)
            NEED(is_row(u->modules.at[k], g->modules.n), "unit \"%s\": module %d does not exist",
                 u->name, u->modules.at[k]);
        for (uint32_t k = 0; k < u->groups.n; k++)
            NEED(is_row(u->groups.at[k], g->groups.n), "unit \"%s\": group %d does not exist",
                 u->name, u->groups.at[k]);
    }
    for (uint32_t i = 0; i < g->groups.n; i++) {
        const Group *q = &g->groups.at[i];
        NEED(is_row(q->unit, g->units.n), "group %u: unit %d does not exist", i, q->unit);
        NEED(dtype_is_float(q->master_dtype) && dtype_is_float(q->compute_dtype) &&
                 (q->wire_dtype == q->compute_dtype || dtype_is_quantized(q->wire_dtype)) &&
                 (dtype_is_float(q->reduce_dtype) || (!q->trainable && !q->reduce_dtype)),
             "group %u: a dtype is not a float dtype", i);
        for (uint32_t k = 0; k < q->params.n; k++)
            NEED(is_row(q->params.at[k].param, g->params.n), "group %u: param %d does not exist", i,
                 q->params.at[k].param);
        Type flat = {.dtype = DT_F64, .rank = 1, .dim = {q->layout.padded}};
        Type shard = {.dtype = DT_F64, .rank = 1, .dim = {q->layout.shard}};
        NEED(type_sound(&flat) && type_sound(&shard), "group %u: %lld elements, shards of %lld", i,
             (long long)q->layout.padded, (long long)q->layout.shard);
    }
}

static void check_formulas(Verify *v) {
    const Graph *g = v->g;
    for (uint32_t i = 0; i < g->formulas.n; i++) {
        const Formula *f = &g->formulas.at[i];
        const char *fault = formula_fault(f->n_in, f->n_step, f->n_out, f->step);
        NEED(!fault, "formula %u: %s", i, fault);
    }
}

/* ---- graph-6 ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Hashes are compared sooner than names: where no two are equal, no two names are. */
static bool are_unlike(Verify *v, const StringList *names) {
    NumberSet set = {0};
    for (uint32_t i = 0; i < names->at.n; i++)
        if (!number_is_new(v->arena, &set, hash_bytes(names->at.at[i], strlen(names->at.at[i]), 0)))
            return false;
    return true;
}

static void check_unique(Verify *v, const char *table, StringList *names) {
    if (are_unlike(v, names)) names->at.n = 0;
    if (names->at.n > 1) qsort(names->at.at, names->at.n, sizeof *names->at.at, compare_names);
    for (uint32_t i = 1; i < names->at.n; i++) {
        if (!strcmp(names->at.at[i - 1], names->at.at[i]))
            verify_broken(v, RULE_GRAPH_6, NULL, "two %s are called \"%s\"", table,
                          names->at.at[i]);
    }
    names->at.n = 0;
}

/* Each kind once; of a pipeline once for each stage and part. */
static void check_programs(Verify *v) {
    const Graph *g = v->g;
    uint32_t stages = graph_stages(g);
    bool *seen = arena_array(v->arena, bool, (size_t)PROGRAM_KINDS *STAGE_PARTS *stages);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        bool exists = (unsigned)p->kind < PROGRAM_KINDS && (unsigned)p->part < STAGE_PARTS &&
                      p->stage >= 0 && p->stage < (int32_t)stages;
        size_t row =
            exists ? ((size_t)p->stage * STAGE_PARTS + p->part) * PROGRAM_KINDS + p->kind : 0;
        if (!exists || seen[row])
            verify_broken(v, RULE_GRAPH_6, NULL, "there are two programs %s",
                          program_name(p->kind));
        seen[row] |= exists;
    }
}

static void check_names(Verify *v) {
    const Graph *g = v->g;
    StringList names = {0};
    for (uint32_t i = 0; i < g->modules.n; i++)
        vec_push(v->arena, &names.at, g->modules.at[i].path);
    check_unique(v, "modules", &names);
    for (uint32_t i = 0; i < g->params.n; i++) {
        if (g->params.at[i].copy_of) continue; /* of the same name */
        vec_push(v->arena, &names.at, g->params.at[i].name.path);
        for (uint32_t k = 0; k < g->params.at[i].aliases.n; k++)
            vec_push(v->arena, &names.at, g->params.at[i].aliases.at[k].path);
    }
    check_unique(v, "parameters", &names);
    for (uint32_t i = 0; i < g->states.n; i++) vec_push(v->arena, &names.at, g->states.at[i].name);
    check_unique(v, "states", &names);
    for (uint32_t i = 0; i < g->fields.n; i++) vec_push(v->arena, &names.at, g->fields.at[i].name);
    check_unique(v, "fields", &names);
    for (uint32_t i = 0; i < g->units.n; i++) vec_push(v->arena, &names.at, g->units.at[i].name);
    check_unique(v, "units", &names);
    check_programs(v);
}

/* ---- graph-8 ---- */

/* The axes fit the role, and a group's state has as many elements as they say. */
static bool resides(const Verify *v, const State *s, const Group *group) {
    const Mesh *mesh = &v->g->policy.mesh;
    const Type *t = &s->type;
    if (!group || s->role == STATE_FACTORS) return !s->split && !s->partial;
    if (s->role == STATE_LARGEST)
        return !s->split && !s->partial && t->rank == 1 && t->dim[0] == group_blocks(v->g, group);
    AxisSet terms = mesh_sample_axes(mesh) | group->partial;
    if (s->split & ~mesh_parameter_axes(mesh) || s->partial & ~terms) return false;
    if (s->partial && (s->role != STATE_GRADIENT || s->partial & s->split)) return false;
    return t->rank == 1 && t->dim[0] == group->layout.padded / mesh_extent(mesh, s->split);
}

static bool role_fits(const Verify *v, const State *s) {
    const Graph *g = v->g;
    const Type *t = &s->type;
    bool vector = t->rank == 1;
    const Group *group = s->group == NO_INDEX ? NULL : &g->groups.at[s->group];
    if (!resides(v, s, group)) return false;
    switch (s->role) {
    case STATE_STEP: return t->dtype == DT_F64 && vector && t->dim[0] == STEP_SLOTS;
    case STATE_SCALE: return t->dtype == DT_F64 && vector && t->dim[0] == SCALE_SLOTS;
    case STATE_METRIC: return t->dtype == DT_I64 && vector && t->dim[0] == EXACT_WORDS;
    case STATE_STAGING: return t->dtype == DT_U8 && t->rank == 2 && t->dim[0] == 2;
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_MOMENT3:
    case STATE_MOMENT4: return group && dtype_is_float(t->dtype) && s->split == group->layout.split;
    case STATE_PARAM:
        return group && t->dtype == group->master_dtype && s->split == group->layout.split;
    case STATE_FACTORS:
        return group && t->dtype == DT_F32 && vector &&
               t->dim[0] == group_total(g, group, factor_numbers);
    case STATE_GRADIENT: return group && dtype_is_float(t->dtype);
    case STATE_GATHERED:
        return group && dtype_is_sent(t->dtype) &&
               (!s->split ||
                (graph_has_stages(g) && s->split == mesh_retained_axes(&g->policy.mesh)));
    case STATE_COPY:
        return group && t->dtype == group->compute_dtype && s->split == group->layout.split;
    case STATE_LARGEST: return group && t->dtype == DT_I32;
    case STATE_KEPT: return !group && s->stage != NO_INDEX;
    case STATE_OUTBOX:
        return !group && s->stage != NO_INDEX && t->dtype == DT_U8 && t->rank == 2 &&
               t->dim[0] >= 2;
    case STATE_CACHE: return !group && t->rank > 2 && dtype_is_float(t->dtype);
    case STATE_PREDICTION:
        return !group && t->rank > 0 && (dtype_is_float(t->dtype) || t->dtype == DT_I32);
    default: return false;
    }
}

static void check_roles(Verify *v) {
    for (uint32_t i = 0; i < v->g->states.n; i++) {
        const State *s = &v->g->states.at[i];
        if (!role_fits(v, s))
            verify_broken(v, RULE_GRAPH_8, NULL,
                          "state \"%s\" of role %s is %s, or has the wrong owner", s->name,
                          state_role_name(s->role), type_text(v->arena, &s->type));
    }
}

/* ---- shard-1 to shard-3 ---- */

static void check_units(Verify *v) {
    const Graph *g = v->g;
    uint32_t *owners = arena_array(v->arena, uint32_t, g->groups.n);
    for (uint32_t i = 0; i < g->units.n; i++) {
        const Unit *u = &g->units.at[i];
        if (u->is_root && i + 1 < g->units.n && !g->units.at[i + 1].is_root)
            verify_broken(v, RULE_SHARD_1, NULL, "unit \"%s\" is the root but not the last",
                          u->name);
        if (!u->modules.n || (v->grouped && !u->groups.n))
            verify_broken(v, RULE_SHARD_1, NULL, "unit \"%s\" has no modules or no groups",
                          u->name);
        for (uint32_t k = 0; k < u->groups.n; k++) {
            int32_t row = u->groups.at[k];
            owners[row]++;
            if (g->groups.at[row].unit != (int32_t)i)
                verify_broken(v, RULE_SHARD_1, NULL,
                              "unit \"%s\" has group %d, which is of unit %d", u->name, row,
                              g->groups.at[row].unit);
        }
    }
    for (uint32_t i = 0; i < g->groups.n; i++)
        if (owners[i] != 1)
            verify_broken(v, RULE_SHARD_1, NULL, "group %u is in %u units", i, owners[i]);
}

static void check_members(Verify *v) {
    const Graph *g = v->g;
    uint32_t *owners = arena_array(v->arena, uint32_t, g->params.n);
    for (uint32_t i = 0; i < g->groups.n; i++) {
        const Group *q = &g->groups.at[i];
        for (uint32_t k = 0; k < q->params.n; k++) {
            const Param *p = &g->params.at[q->params.at[k].param];
            owners[q->params.at[k].param]++;
            if (p->type.dtype != q->master_dtype || p->compute_dtype != q->compute_dtype ||
                q->wire_dtype != dtype_on_wire(&g->policy, p) || p->frozen == q->trainable ||
                (p->replicate && q->layout.split) || (q->trainable && p->matrix != q->matrices))
                verify_broken(v, RULE_SHARD_2, NULL, "group %u and parameter \"%s\" disagree", i,
                              p->name.path);
        }
    }
    for (uint32_t i = 0; i < g->params.n; i++)
        if (owners[i] != 1)
            verify_broken(v, RULE_SHARD_2, NULL, "parameter \"%s\" is in %u groups",
                          g->params.at[i].name.path, owners[i]);
}

/* Is the chunk what ranks have of the parameter: rows, or equal parts of another axis? */
static bool is_chunk_of(const Verify *v, const Group *q, const Param *p, int64_t chunk) {
    bool divides = !p->split_axis || p->type.dim[p->split_axis] % layout_shards(&q->layout) == 0;
    return divides && chunk > 0 && chunk == param_chunk(v->g, q->layout.split, p);
}

/* Chunks of one parameter after the other fill the shard. */
static void check_chunks(Verify *v, uint32_t row) {
    const Group *q = &v->g->groups.at[row];
    int64_t end = 0;
    for (uint32_t k = 0; k < q->params.n; k++) {
        LayoutPlace p = group_place(v->g, q, k);
        const Param *param = &v->g->params.at[q->params.at[k].param];
        if (p.offset != end || !is_chunk_of(v, q, param, p.chunk)) {
            verify_broken(v, RULE_SHARD_3, NULL,
                          "group %u: parameter %d of %lld in chunks of %lld at %lld, after %lld",
                          row, q->params.at[k].param, (long long)p.n, (long long)p.chunk,
                          (long long)p.offset, (long long)end);
            return;
        }
        end = layout_end(&q->layout, &p);
    }
    if (end != q->layout.shard || q->layout.unpadded != q->layout.padded)
        verify_broken(v, RULE_SHARD_3, NULL, "group %u: chunks end at %lld of %lld, unpadded %lld",
                      row, (long long)end, (long long)q->layout.shard,
                      (long long)q->layout.unpadded);
}

static void check_layout(Verify *v, uint32_t row) {
    const Group *q = &v->g->groups.at[row];
    if (q->params.n && q->params.at[0].chunk && layout_is_sound(&q->layout, &v->g->policy.mesh)) {
        check_chunks(v, row);
        return;
    }
    int64_t ranks = mesh_extent(&v->g->policy.mesh, q->layout.split), end = 0;
    int64_t grain = MAX(v->g->policy.align / dtype_bytes(q->wire_dtype), 1);
    for (uint32_t k = 0; k < q->params.n; k++) {
        int64_t at = q->params.at[k].offset;
        if (at < end || at % grain || at > q->layout.padded || q->params.at[k].chunk) {
            verify_broken(v, RULE_SHARD_3, NULL,
                          "group %u: parameter %d at %lld, after %lld and in steps of %lld", row,
                          q->params.at[k].param, (long long)at, (long long)end, (long long)grain);
            return;
        }
        end = at + type_elements(&v->g->params.at[q->params.at[k].param].type);
    }
    if (q->layout.split & ~mesh_parameter_axes(&v->g->policy.mesh) || !q->params.n ||
        q->layout.unpadded < end || q->layout.padded < q->layout.unpadded ||
        q->layout.padded % ranks || q->layout.shard != q->layout.padded / ranks)
        verify_broken(v, RULE_SHARD_3, NULL,
                      "group %u: ends at %lld, unpadded %lld, padded %lld, shard %lld of %lld", row,
                      (long long)end, (long long)q->layout.unpadded, (long long)q->layout.padded,
                      (long long)q->layout.shard, (long long)ranks);
}

bool verify_tables(Verify *v) {
    int before = v->broken;
    check_policy(v);
    check_params(v);
    check_states(v);
    check_rows_of_units(v);
    check_formulas(v);
    if (v->broken != before) return false;
    check_names(v);
    if (v->g->programs.n > PROGRAM_KINDS * STAGE_PARTS * graph_stages(v->g)) return false;
    check_roles(v);
    if (v->g->level >= LEVEL_SHARD) {
        check_units(v);
        if (v->grouped) check_members(v);
        for (uint32_t i = 0; i < v->g->groups.n; i++) check_layout(v, i);
    } else if (v->g->units.n || v->g->groups.n) {
        verify_broken(v, RULE_SHARD_1, NULL, "units and groups before level shard");
    }
    return true;
}

/* The reader's second step: settings, parameters, units, groups, states, fields, sources, programs.
 *
 * Besides ranges it checks what depends on several tables: each parameter is inside one group and
 * each group in its unit, states have the shape that their role promises, every instruction belongs
 * to one program and every rank to one role.
 */
#include <string.h>

#include "plan_reader.h"

bool plan_type_sane(const Type *t) {
    static const uint8_t clean[sizeof t->pad];
    if (t->dtype <= DT_NONE || t->dtype >= DT_COUNT || t->rank > MAX_RANK) return false;
    if (memcmp(t->pad, clean, sizeof clean)) return false;
    int64_t left = PLAN_LARGEST / 8;
    for (int i = 0; i < MAX_RANK; i++) {
        if (i >= t->rank) {
            if (t->dim[i]) return false;
            continue;
        }
        int64_t n = i + 1 < t->rank ? t->dim[i] : type_pitch(t);
        if (t->dim[i] < 1 || n < t->dim[i] || n > left) return false;
        left /= n;
    }
    if (t->pitch && (!t->rank || t->pitch <= t->dim[t->rank - 1])) return false;
    return t->dtype != DT_TOKEN || t->rank == 0;
}

static void read_files(Reading *r) {
    const Plan *p = r->p;
    FAIL_IF(!p->n_files, "the source map is empty");
    for (uint64_t i = 0; i < p->n_files; i++)
        FAIL_IF(bad_string(p, p->files[i].base) || p->files[i].pad, "source file %llu has no name",
                (Llu)i);
}

static void read_params(Reading *r) {
    const Plan *p = r->p;
    Mesh mesh = plan_mesh(p);
    int64_t total = 0;
    for (uint64_t i = 0; i < p->n_params; i++) {
        const PlanParam *a = &p->params[i];
        FAIL_IF(bad_string(p, a->name) || bad_string(p, a->key) || bad_string(p, a->checkpoint),
                "parameter %llu has no name", (Llu)i);
        const char *name = plan_string(p, a->name);
        FAIL_IF(a->init > 2 || a->flags > 255 || bad_gather(a->gather_dtype) ||
                    bad_real(a->init_std, 0, 1e30) || bad_real(a->init_mean, -1e30, 1e30),
                "parameter %s: unknown initial value, flags or dtype", name);
        FAIL_IF(bad_real(a->lr_factor, 0, 1e30) || bad_real(a->weight_decay, 0, 1e30) ||
                    (!(a->flags & PARAM_GROUPED) && (a->lr_factor != 0 || a->weight_decay != 0)),
                "parameter %s: its learning rate or decay is out of range", name);
        FAIL_IF(bad_range(a->first_alias, a->n_alias, p->n_aliases),
                "parameter %s: its aliases are outside their table", name);
        FAIL_IF(!plan_type_sane(&a->type) || a->type.pitch || !dtype_is_float((int)a->type.dtype),
                "parameter %s has no type", name);
        FAIL_IF(!tensor_cut_is_sound(&a->cut, &mesh, a->type.dim, a->type.rank, false),
                "parameter %s: its cut does not fit the mesh or its type", name);
        FAIL_IF((a->flags & PARAM_TRANSPOSED) && a->type.rank != 2,
                "parameter %s: only a matrix can be stored transposed", name);
        FAIL_IF((a->flags & PARAM_IN_PARTS) && (a->flags & PARAM_TRANSPOSED || a->n_alias),
                "parameter %s: a parameter that is stored in parts cannot be transposed or have "
                "aliases",
                name);
        FAIL_IF((a->flags & PARAM_MATRIX) && a->type.rank != 2,
                "parameter %s is not a matrix, but marked as one", name);
        FAIL_IF(type_elements(&a->type) > PLAN_LARGEST / mesh_extent(&mesh, a->cut.axes),
                "parameter %s is too large", name);
        Type whole = plan_whole_type(p, a);
        total += type_elements(&whole);
        FAIL_IF(total > PLAN_LARGEST, "there are too many parameters");
    }
    FAIL_IF(total != p->settings->parameters,
            "the parameters have %lld elements, the settings say %lld", (long long)total,
            (long long)p->settings->parameters);
    for (uint64_t i = 0; i < p->n_aliases; i++)
        FAIL_IF(bad_string(p, p->aliases[i].name) || bad_string(p, p->aliases[i].checkpoint),
                "alias %llu has no name", (Llu)i);
}

static void read_placements(Reading *r) {
    const Plan *p = r->p;
    Mesh mesh = plan_mesh(p);
    for (uint64_t i = 0; i < p->n_placements; i++)
        FAIL_IF(!placement_is_sound(&p->placements[i], &mesh),
                "placement %llu does not fit the mesh", (Llu)i);
}

static void read_units(Reading *r) {
    const Plan *p = r->p;
    uint64_t next = 0;
    for (uint64_t i = 0; i < p->n_units; i++) {
        const PlanUnit *u = &p->units[i];
        FAIL_IF(bad_string(p, u->name) || bad_string(p, u->class_name), "unit %llu has no name",
                (Llu)i);
        FAIL_IF(u->first_group != next || bad_range(next, u->n_group, p->n_groups),
                "unit %llu: its groups are out of place", (Llu)i);
        FAIL_IF(bad_count(u->below, 0) || bad_count(u->owned, 0), "unit %llu: a count is wrong",
                (Llu)i);
        next += u->n_group;
        for (uint64_t k = u->first_group; k < next; k++)
            FAIL_IF(p->groups[k].unit != i, "group %llu does not belong to unit %llu", (Llu)k,
                    (Llu)i);
    }
    FAIL_IF(next != p->n_groups, "%llu groups belong to no unit", (Llu)(p->n_groups - next));
}

/* After `end`, the end of the parameter before; chunks without gaps, which cut it along an axis. */
static bool param_fits(const Layout *l, const LayoutPlace *p, const Type *t, bool chunks,
                       int64_t end) {
    if ((p->chunk != 0) != chunks || p->chunk < 0 || p->chunk > p->n || p->offset < end)
        return false;
    if (layout_axis(l, p, t->dim, t->rank) < 0) return false;
    if (chunks && p->offset != end) return false;
    return p->offset <= layout_room(l, p) && p->n <= l->padded &&
           layout_end(l, p) <= layout_room(l, p);
}

/* Groups of parameters that several stages read. */
static bool groups_are_alike(const Plan *p, const PlanGroup *a, const PlanGroup *b) {
    PlanGroup same = *b;
    same.unit = a->unit;
    same.first_param = a->first_param;
    return !memcmp(a, &same, sizeof same) &&
           !memcmp(&p->group_params[a->first_param], &p->group_params[b->first_param],
                   a->n_param * sizeof *p->group_params);
}

const PlanGroup *plan_shared_group(const Plan *p, const PlanGroup *g) {
    const PlanGroup *first = g;
    if (plan_has_stages(p)) plan_find_place(p, p->group_params[g->first_param].param, &first);
    return first;
}

bool plan_is_copy(const Plan *p, const PlanState *s) {
    return plan_shared_group(p, &p->groups[s->group]) != &p->groups[s->group];
}

/* seen, last: by parameter, the first and the last group + 1 that have it so far. */
static void read_group(Reading *r, uint64_t i, uint64_t *seen, uint64_t *last) {
    const Plan *p = r->p;
    const PlanGroup *g = &p->groups[i];
    int64_t end = 0;
    Mesh mesh = plan_mesh(p);
    FAIL_IF(g->flags > 3 || g->flags == GROUP_MATRICES || g->split & ~mesh_parameter_axes(&mesh) ||
                g->partial & ~((mesh_cut_axes(&mesh) & ~g->cut) | mesh_stage_axes(&mesh)) ||
                g->pad || !dtype_is_float((int)g->master_dtype) ||
                !dtype_is_float((int)g->compute_dtype) || !dtype_is_float((int)g->reduce_dtype) ||
                (g->wire_dtype != g->compute_dtype && !dtype_is_quantized((int)g->wire_dtype)),
            "group %llu: unknown flags, axes or dtype", (Llu)i);
    FAIL_IF(bad_count(g->unpadded, 1) || bad_count(g->padded, 1) || bad_count(g->shard, 1) ||
                g->padded < g->unpadded,
            "group %llu: a size is wrong", (Llu)i);
    Layout layout = plan_layout(g);
    FAIL_IF(!layout_is_sound(&layout, &mesh),
            "group %llu: shards of %lld elements do not add up to %lld", (Llu)i,
            (long long)g->shard, (long long)g->padded);
    FAIL_IF(bad_range(g->first_param, g->n_param, p->n_group_params) || !g->n_param,
            "group %llu: its parameters are outside their table", (Llu)i);
    bool chunks = plan_has_chunks(p, g);
    for (uint64_t k = g->first_param; k < (uint64_t)g->first_param + g->n_param; k++) {
        const PlanGroupParam *a = &p->group_params[k];
        FAIL_IF(a->param >= p->n_params || a->pad,
                "group %llu names a parameter that does not exist", (Llu)i);
        const PlanParam *param = &p->params[a->param];
        bool twice = last[a->param] == i + 1;
        last[a->param] = i + 1;
        if (!seen[a->param]) seen[a->param] = i + 1;
        const PlanGroup *first = &p->groups[seen[a->param] - 1];
        FAIL_IF(twice || (first != g && !groups_are_alike(p, first, g)),
                "parameter %s is in two groups that differ", plan_string(p, param->name));
        FAIL_IF(param->cut.axes != g->cut, "parameter %s is not cut as group %llu says",
                plan_string(p, param->name), (Llu)i);
        FAIL_IF(param->type.dtype != g->master_dtype,
                "parameter %s does not have the dtype of group %llu", plan_string(p, param->name),
                (Llu)i);
        FAIL_IF(!(param->flags & PARAM_FROZEN) != !!(g->flags & GROUP_TRAINABLE),
                "parameter %s and group %llu disagree on whether they are trained",
                plan_string(p, param->name), (Llu)i);
        FAIL_IF((g->flags & GROUP_TRAINABLE) &&
                    !(param->flags & PARAM_MATRIX) != !(g->flags & GROUP_MATRICES),
                "parameter %s and group %llu disagree on how they are trained",
                plan_string(p, param->name), (Llu)i);
        LayoutPlace place = plan_place(p, k);
        FAIL_IF(!param_fits(&layout, &place, &param->type, chunks, end),
                "parameter %s does not fit into group %llu", plan_string(p, param->name), (Llu)i);
        end = layout_end(&layout, &place);
    }
    FAIL_IF(chunks && (end != g->shard || g->unpadded != g->padded),
            "group %llu: its chunks do not fill a shard", (Llu)i);
}

static void read_groups(Reading *r) {
    const Plan *p = r->p;
    uint64_t *seen = arena_array(r->scratch, uint64_t, p->n_params);
    uint64_t *last = arena_array(r->scratch, uint64_t, p->n_params);
    for (uint64_t i = 0; i < p->n_groups; i++) read_group(r, i, seen, last);
    for (uint64_t i = 0; i < p->n_params; i++)
        FAIL_IF(!seen[i], "parameter %s is in no group", plan_string(p, p->params[i].name));
}

static bool has_shape(const Type *t, uint32_t dtype, int64_t elements) {
    return t->dtype == dtype && t->rank == 1 && t->dim[0] == elements;
}

/* What a role promises about the type, so that host code can use the memory. */
static void read_state_role(Reading *r, const PlanState *s, const char *name) {
    const Plan *p = r->p;
    const PlanGroup *g = s->group >= 0 ? &p->groups[s->group] : NULL;
    bool right = false;
    switch (s->role) {
    case STATE_STEP: right = has_shape(&s->type, DT_F64, STEP_SLOTS); break;
    case STATE_SCALE: right = has_shape(&s->type, DT_F64, SCALE_SLOTS); break;
    case STATE_METRIC: right = has_shape(&s->type, DT_I64, EXACT_WORDS); break;
    case STATE_STAGING:
        right = s->type.dtype == DT_U8 && s->type.rank == 2 && s->type.dim[0] >= 2;
        break;
    case STATE_PARAM:
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_MOMENT3:
    case STATE_MOMENT4: right = g && has_shape(&s->type, g->master_dtype, g->shard); break;
    case STATE_FACTORS: {
        int64_t n = 0;
        for (uint32_t k = 0; g && k < g->n_param; k++) {
            Type whole = plan_whole_type(p, &p->params[p->group_params[g->first_param + k].param]);
            n += factor_numbers(&whole);
        }
        right = g && has_shape(&s->type, DT_F32, n);
        break;
    }
    case STATE_GRADIENT:
        right = g && (has_shape(&s->type, g->reduce_dtype, g->shard) ||
                      has_shape(&s->type, g->reduce_dtype, g->padded));
        break;
    case STATE_GATHERED: {
        Mesh mesh = plan_mesh(p);
        int64_t parts = mesh_extent(&mesh, mesh_retained_axes(&mesh));
        right = g && (has_shape(&s->type, g->wire_dtype, g->padded) ||
                      has_shape(&s->type, g->wire_dtype, g->padded / parts));
        break;
    }
    case STATE_COPY: right = g && has_shape(&s->type, g->compute_dtype, g->shard); break;
    case STATE_KEPT: right = !g && s->stage; break;
    case STATE_OUTBOX:
        right =
            !g && s->stage && s->type.dtype == DT_U8 && s->type.rank == 2 && s->type.dim[0] >= 2;
        break;
    case STATE_LARGEST:
        right = g && has_shape(&s->type, DT_I32, plan_blocks(p, g, g->n_param));
        break;
    case STATE_CACHE: right = !g && s->type.rank > 2 && type_is_float(&s->type); break;
    case STATE_PREDICTION:
        right = !g && s->type.rank > 0 && s->type.dim[0] == p->settings->local_batch &&
                (type_is_float(&s->type) || s->type.dtype == DT_I32);
        break;
    default: break;
    }
    FAIL_IF(!right, "state %s does not have the type of its role", name);
}

static void read_states(Reading *r) {
    const Plan *p = r->p;
    uint32_t single[STATE_ROLES] = {0};
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        FAIL_IF(bad_string(p, s->name), "state %llu has no name", (Llu)i);
        const char *name = plan_string(p, s->name);
        FAIL_IF(s->role >= STATE_ROLES, "state %s has no role", name);
        FAIL_IF(s->group < -1 || s->group >= (int64_t)p->n_groups,
                "state %s names a group that does not exist", name);
        FAIL_IF(!plan_type_sane(&s->type) || s->type.pitch || s->type.dtype == DT_TOKEN,
                "state %s has no type", name);
        uint64_t at = address_offset(s->address);
        uint64_t room = address_is_host(s->address) ? p->settings->host_persistent
                                                    : p->settings->persistent_bytes;
        FAIL_IF(s->stage > PLAN_STAGES_MAX, "state %s is of a stage that cannot exist", name);
        FAIL_IF(at % PLAN_ALIGN || at > room || (uint64_t)type_bytes(&s->type) > room - at,
                "state %s is outside the persistent memory", name);
        single[s->role]++;
        read_state_role(r, s, name);
    }
    FAIL_IF(single[STATE_STEP] != 1 || single[STATE_STAGING] > 1 || single[STATE_SCALE] > 1,
            "there must be one state of role step, and at most one of staging and scale");
}

static void read_saves(Reading *r) {
    const Plan *p = r->p;
    for (uint64_t i = 0; i < p->n_saves; i++) {
        const PlanSave *s = &p->saves[i];
        FAIL_IF(s->state >= p->n_states || s->copied > 1 ||
                    !state_is_saved(p->states[s->state].role),
                "save %llu names a state that checkpoints do not contain", (Llu)i);
        FAIL_IF(s->bytes > (uint64_t)PLAN_LARGEST || s->at > (uint64_t)PLAN_LARGEST ||
                    s->at % PLAN_ALIGN,
                "save %llu: %llu bytes at %llu of the copy", (Llu)i, (Llu)s->bytes, (Llu)s->at);
    }
}

/* Each group has one state for its shard, and at most one for a copy of it: loading and saving
 * parameters relies on it. */
static void read_shards(Reading *r) {
    const Plan *p = r->p;
    bool *seen = arena_array(r->scratch, bool, p->n_groups);
    bool *copied = arena_array(r->scratch, bool, p->n_groups);
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        bool shard = s->role == STATE_PARAM;
        bool *found = shard ? seen : s->role == STATE_COPY ? copied : NULL;
        FAIL_IF(found && found[s->group], "state %s is a second %s of group %d",
                plan_string(p, s->name), shard ? "shard" : "copy", s->group);
        if (found) found[s->group] = true;
    }
    for (uint64_t i = 0; i < p->n_groups; i++)
        FAIL_IF(!seen[i], "group %llu has no shard among the states", (Llu)i);
}

/* Fields of a step come after all others, and each has the rows of one of these. */
static bool bad_source_field(const Plan *p, uint64_t i) {
    const PlanField *f = &p->fields[i], *one = f->of && f->of <= i ? &p->fields[f->of - 1] : NULL;
    if (!f->of) return i && p->fields[i - 1].of;
    if (!one || one->of || one->type.rank != f->type.rank || one->type.dtype != f->type.dtype)
        return true;
    size_t rest = sizeof(int64_t) * (size_t)(f->type.rank - 1);
    return memcmp(one->type.dim + 1, f->type.dim + 1, rest) != 0;
}

static void read_fields(Reading *r) {
    const Plan *p = r->p;
    uint64_t slot = 0;
    for (uint64_t i = 0; i < p->n_states; i++)
        if (p->states[i].role == STATE_STAGING) slot = (uint64_t)p->states[i].type.dim[1];
    for (uint64_t i = 0; i < p->n_fields; i++) {
        const PlanField *f = &p->fields[i];
        FAIL_IF(bad_string(p, f->name), "batch field %llu has no name", (Llu)i);
        const char *name = plan_string(p, f->name);
        int64_t calls = f->of ? p->settings->micro_batches : 1, samples;
        FAIL_IF(!plan_type_sane(&f->type) || f->type.pitch || f->type.dtype == DT_TOKEN ||
                    !f->type.rank ||
                    __builtin_mul_overflow(p->settings->local_batch, calls, &samples) ||
                    f->type.dim[0] != samples,
                "batch field %s does not have the samples of %lld micro-batches of %lld", name,
                (long long)calls, (long long)p->settings->local_batch);
        FAIL_IF(bad_source_field(p, i), "batch field %s does not follow the field that it holds",
                name);
        FAIL_IF(f->staging % 64 || f->staging > slot ||
                    (uint64_t)type_bytes(&f->type) > slot - f->staging,
                "batch field %s is outside its staging slot", name);
    }
}

static bool bad_corruption(const PlanSource *s, bool rows) {
    if (s->corruption == CORRUPTION_NONE)
        return s->raw || s->noise || s->spans || s->mask || s->end || s->words || s->draw;
    bool spans = s->corruption == CORRUPTION_SPANS;
    int64_t rest = s->raw - s->noise;
    return !rows || s->corruption >= CORRUPTIONS || s->raw < 1 || s->raw > INT32_MAX ||
           s->noise < 1 || rest < 0 || s->mask < 0 || s->mask > INT32_MAX || s->end < 0 ||
           s->end > INT32_MAX || s->words < 0 || s->words > INT32_MAX ||
           (spans ? s->spans < 1 || s->spans > MIN(s->noise, rest) || s->spans > s->mask + 1
                  : s->spans != 0);
}

static void read_formulas(Reading *r) {
    const Plan *p = r->p;
    uint64_t next = 0;
    for (uint64_t i = 0; i < p->n_formulas; i++) {
        const PlanFormula *f = &p->formulas[i];
        FAIL_IF(f->first_step != next || bad_range(next, f->n_step, p->n_steps),
                "formula %llu does not follow the one before it", (Llu)i);
        next += f->n_step;
        const char *fault = formula_fault(f->n_in, f->n_step, f->n_out, p->steps + f->first_step);
        FAIL_IF(fault, "formula %llu: %s", (Llu)i, fault);
    }
    FAIL_IF(next != p->n_steps, "%llu steps belong to no formula", (Llu)(p->n_steps - next));
}

static void read_sources(Reading *r) {
    const Plan *p = r->p;
    for (uint64_t i = 0; i < p->n_sources; i++) {
        const PlanSource *s = &p->sources[i];
        FAIL_IF(bad_string(p, s->name) || bad_string(p, s->path), "data source %llu has no name",
                (Llu)i);
        FAIL_IF(s->kind >= SOURCE_KINDS, "data source %s has an unknown kind",
                plan_string(p, s->name));
        FAIL_IF(bad_range(s->first_field, s->n_field, p->n_source_fields),
                "data source %s: its fields are outside their table", plan_string(p, s->name));
        FAIL_IF(bad_real(s->from, 0, 1) || bad_real(s->to, 0, 1) || s->from > s->to,
                "data source %s: from and to must satisfy 0 <= from <= to <= 1",
                plan_string(p, s->name));
        bool made = s->kind == SOURCE_SYNTHETIC || s->kind == SOURCE_SYNTHETIC_TOKENS;
        FAIL_IF(made ? bad_count(s->samples, 1) : s->samples != 0, "data source %s: %lld samples",
                plan_string(p, s->name), (long long)s->samples);
        FAIL_IF(s->kind == SOURCE_SYNTHETIC_TOKENS ? s->vocab < 1 || s->vocab > INT32_MAX
                                                   : s->vocab != 0,
                "data source %s: a vocabulary of %lld", plan_string(p, s->name),
                (long long)s->vocab);
        bool rows = s->kind != SOURCE_NPY && s->kind != SOURCE_SYNTHETIC;
        FAIL_IF(rows && p->settings->length < 1,
                "data source %s: a sample must have at least one token", plan_string(p, s->name));
        FAIL_IF(bad_corruption(s, rows), "data source %s: tokens cannot be corrupted in this way",
                plan_string(p, s->name));
    }
    for (uint64_t i = 0; i < p->n_source_fields; i++)
        FAIL_IF(bad_string(p, p->source_fields[i].name) || bad_string(p, p->source_fields[i].path),
                "source field %llu has no name", (Llu)i);
    for (uint64_t i = 0; i < p->n_source_fields; i++)
        FAIL_IF(p->source_fields[i].classes < 0 || p->source_fields[i].classes > INT32_MAX,
                "source field %llu has %lld classes", (Llu)i,
                (long long)p->source_fields[i].classes);
}

/* Its memory fits what ranks allocate, slots of kept activations fit among its states. */
static bool bad_role(const Plan *p, const PlanRole *r) {
    const PlanSettings *s = p->settings;
    bool workspace = false;
    for (int d = 0; d < DEVICE_KINDS; d++)
        workspace |=
            r->workspace_bytes[d] > s->workspace_bytes[d] || r->workspace_bytes[d] < r->arena_bytes;
    return workspace || r->arena_bytes > s->arena_bytes || r->host_bytes > s->host_bytes ||
           r->persistent_bytes > r->arena_bytes || r->host_persistent > r->host_bytes ||
           r->kept_at > r->persistent_bytes || r->sent_bytes > s->sent_bytes ||
           (r->kept_slots && r->kept_bytes > (r->persistent_bytes - r->kept_at) / r->kept_slots);
}

static void read_programs(Reading *r) {
    const Plan *p = r->p;
    uint64_t next = 0;
    uint32_t rank = 0;
    FAIL_IF(p->n_roles < 1 || p->n_roles > PLAN_ROLES_MAX || p->n_calls > PLAN_CALLS_MAX ||
                p->n_programs > PLAN_CALLS_MAX,
            "%llu roles, %llu calls and %llu programs cannot make a step", (Llu)p->n_roles,
            (Llu)p->n_calls, (Llu)p->n_programs);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *a = &p->programs[i];
        FAIL_IF(a->kind >= PROGRAM_KINDS || a->part >= STAGE_PARTS,
                "program %llu has an unknown kind", (Llu)i);
        FAIL_IF(a->first_instr != next || bad_range(next, a->n_instr, p->n_instrs) ||
                    a->peak > p->settings->arena_bytes,
                "program %llu does not follow the one before it", (Llu)i);
        next += a->n_instr;
    }
    FAIL_IF(next != p->n_instrs, "%llu instructions belong to no program",
            (Llu)(p->n_instrs - next));
    for (uint64_t i = 0; i < p->n_roles; i++) {
        FAIL_IF(bad_role(p, &p->roles[i]), "role %llu has more memory than the settings say",
                (Llu)i);
        FAIL_IF(p->roles[i].first_rank != rank || !p->roles[i].n_ranks ||
                    p->roles[i].n_ranks > p->settings->ranks - rank,
                "the ranks of role %llu overlap others or leave a gap", (Llu)i);
        rank += p->roles[i].n_ranks;
    }
    FAIL_IF(rank != p->settings->ranks, "%u ranks have no role", p->settings->ranks - rank);
    for (uint64_t i = 0; i < p->n_calls; i++) {
        const PlanCall *a = &p->calls[i];
        FAIL_IF(a->role >= p->n_roles || a->kind > PLAN_EVALUATION || a->program >= p->n_programs ||
                    a->times < 1 || a->times > PLAN_LARGEST || bad_count(a->micro, 0) ||
                    a->slot >= MAX(p->roles[a->role].kept_slots, 1) ||
                    plan_stage_role(p, p->programs[a->program].stage) != a->role,
                "call %llu names a role or program that does not exist", (Llu)i);
    }
}

void plan_read_tables(Reading *r) {
    plan_read_settings(r);
    read_files(r);
    read_params(r);
    read_placements(r);
    plan_read_names(r);
    read_units(r);
    read_groups(r);
    read_states(r);
    read_formulas(r);
    read_shards(r);
    read_saves(r);
    read_fields(r);
    read_sources(r);
    read_programs(r);
    plan_read_model(r);
}

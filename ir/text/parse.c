/* Canonical text back into a graph (levels.md): the inverse of print.c.
 *
 * A line is a record; its first word says which. The parser is a cursor over the bytes, one
 * function a record, and goes on with the next line after a mistake. Operands and edges may name
 * what comes later in the text: they are resolved at the end. Order and all meaning are business of
 * graph_verify: the parser makes sure that names are known, numbers fit their fields, types are
 * sound and what an op reads exists. Any bytes are safe; memory is in proportion to the text.
 */
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum { MOST_RANKS = 1 << 20 };

/* ---- header ---- */

static bool parse_file(GraphParser *p) {
    const char *base;
    uint64_t hash = 0;
    if (!parse_row(p, p->files.n + 1) || !parse_string(p, &base)) return false;
    parse_peek(p);
    for (int i = 0; i < 16; i++, p->at++) {
        int digit = p->at < p->end ? parse_hex_digit(*p->at) : -1;
        if (digit < 0) return parse_fail(p, "expected a hash of 16 hexadecimal digits");
        hash = hash << 4 | (uint64_t)digit;
    }
    uint32_t file = diag_add_file(p->g->diags, base, "", 0);
    p->g->diags->files.at[file].base = base;
    p->g->diags->files.at[file].text = NULL;
    p->g->diags->files.at[file].hash = hash;
    vec_push(p->scratch, &p->files, file);
    return true;
}

static bool parse_mesh(GraphParser *p) {
    Mesh *mesh = &p->g->policy.mesh;
    mesh->n = 0;
    int64_t ranks = 1;
    while (parse_peek(p) != '\n') {
        char word[NAME_SIZE];
        int64_t size;
        if (mesh->n == MESH_AXES) return parse_fail(p, "the mesh has too many axes");
        if (mesh->n && !parse_expect(p, ',')) return false;
        if (!parse_word(p, "an axis", word)) return false;
        int role = 0;
        while (role < AXIS_ROLES && strcmp(word, axis_name((AxisRole)role))) role++;
        if (role == AXIS_ROLES) return parse_fail_token(p, "a mesh has no axis `%s`", word);
        if (!parse_expect(p, '=') || !parse_int(p, &size)) return false;
        if (size < 1 || size > MOST_RANKS / ranks)
            return parse_fail_token(p, "a mesh has 1 to %d ranks", MOST_RANKS);
        ranks *= size;
        mesh->axis[mesh->n].role = (AxisRole)role;
        mesh->axis[mesh->n++].size = size;
    }
    return true;
}

/* Texts in quotes up to the closing bracket. */
static bool parse_strings(GraphParser *p, StringList *list, char close) {
    *list = (StringList){0};
    while (!parse_accept(p, close)) {
        const char *s;
        if (list->at.n && !parse_expect(p, ',')) return false;
        if (!parse_string(p, &s)) return false;
        vec_push(p->g->arena, &list->at, s);
    }
    return true;
}

static bool parse_unit_policy(GraphParser *p) {
    Policy *policy = &p->g->policy;
    int kind;
    if (!parse_enum(p, "a unit policy", &words_UnitPolicy, &kind)) return false;
    policy->unit = (UnitPolicy)kind;
    if (policy->unit != UNIT_ROOT && !parse_expect(p, '(')) return false;
    if (policy->unit == UNIT_CLASS && !parse_strings(p, &policy->unit_classes, ')')) return false;
    if (policy->unit == UNIT_SIZE) {
        if (!parse_int(p, &policy->unit_size)) return false;
        if (!parse_accept(p, ')') &&
            (!parse_expect(p, ',') || !parse_strings(p, &policy->unit_leaf, ')')))
            return false;
    }
    if (policy->unit == UNIT_MANUAL) {
        policy->unit_manual.n = 0;
        while (!parse_accept(p, ')')) {
            StringList one;
            if (policy->unit_manual.n && !parse_expect(p, ',')) return false;
            if (!parse_expect(p, '[') || !parse_strings(p, &one, ']')) return false;
            vec_push(p->g->arena, &policy->unit_manual, one);
        }
    }
    return parse_span(p, &policy->unit_span);
}

static bool parse_lists(GraphParser *p, PathLists *out) {
    out->at.n = 0;
    if (!parse_expect_word(p, "lists") || !parse_expect(p, '(')) return false;
    do {
        PathList list = {0};
        if (!parse_expect(p, '[') || !parse_strings(p, &list.paths, ']') ||
            !parse_span(p, &list.span))
            return false;
        vec_push(p->g->arena, &out->at, list);
    } while (parse_accept(p, ','));
    return parse_expect(p, ')');
}

static bool parse_recompute(GraphParser *p) {
    RecomputePolicy *r = &p->g->policy.recompute;
    for (bool first = true;; first = false) {
        StringList *list = parse_accept_word(p, "class")  ? &r->classes
                           : parse_accept_word(p, "ops")  ? &r->ops
                           : parse_accept_word(p, "keep") ? &r->keep
                                                          : NULL;
        if (!list && first) return parse_fail(p, "expected `class`, `ops` or `keep`");
        if (!list) return parse_span(p, &r->span);
        if (!parse_expect(p, '(') || !parse_strings(p, list, ')')) return false;
    }
}

static bool parse_by_path(GraphParser *p) {
    Policy *policy = &p->g->policy;
    policy->by_path.n = 0;
    if (!parse_expect_word(p, "list") || !parse_expect(p, '(')) return false;
    do {
        PathPolicy path = {0};
        int kind, reshard = RESHARD_POLICY;
        bool good = parse_string(p, &path.glob) &&
                    parse_enum(p, "what holds for a path", &words_PathPolicyKind, &kind);
        if (good && kind == PATH_RESHARD)
            good = parse_enum(p, "`kept`, `given` or `part`", &words_UnitReshard, &reshard);
        if (good && reshard == RESHARD_PART) good = parse_int(p, &path.group);
        if (!good || !parse_span(p, &path.span)) return false;
        path.kind = (PathPolicyKind)kind;
        path.reshard = (UnitReshard)reshard;
        vec_push(p->g->arena, &policy->by_path, path);
    } while (parse_accept(p, ','));
    return parse_expect(p, ')');
}

static bool parse_one_policy(GraphParser *p) {
    char word[NAME_SIZE];
    if (!parse_word(p, "the name of a policy", word) || !parse_expect(p, '=')) return false;
    if (!strcmp(word, "unit")) return parse_unit_policy(p);
    if (!strcmp(word, "by_hand")) return parse_lists(p, &p->g->policy.unit_by_hand);
    if (!strcmp(word, "stage_lists")) return parse_lists(p, &p->g->policy.stage_lists);
    if (!strcmp(word, "recompute")) return parse_recompute(p);
    if (!strcmp(word, "by_path")) return parse_by_path(p);
    for (uint32_t i = 0; i < n_policy_fields; i++)
        if (!strcmp(word, policy_fields[i].name))
            return parse_field(p, &policy_fields[i], &p->g->policy, false);
    return parse_fail_token(p, "unknown policy `%s`", word);
}

static bool parse_policy(GraphParser *p) {
    do {
        if (!parse_one_policy(p)) return false;
    } while (parse_accept(p, ','));
    return true;
}

/* ---- tables ---- */

static bool parse_module(GraphParser *p) {
    Module m = {.parent = NO_INDEX};
    if (!parse_row(p, p->g->modules.n) || !parse_string(p, &m.path) ||
        !parse_name(p, &m.class_name))
        return false;
    if (parse_accept_word(p, "parent") && !parse_i32(p, &m.parent)) return false;
    if (!parse_span(p, &m.span)) return false;
    vec_push(p->g->arena, &p->g->modules, m);
    return true;
}

static bool parse_param_name(GraphParser *p, ParamName *name) {
    return parse_string(p, &name->path) && parse_expect_word(p, "module") &&
           parse_i32(p, &name->module) && parse_span(p, &name->span);
}

static bool parse_init(GraphParser *p, Param *q) {
    int init;
    if (!parse_enum(p, "an initial value", &words_InitKind, &init)) return false;
    q->init = (InitKind)init;
    if (q->init != INIT_NORMAL) return true;
    if (!parse_expect(p, '(') || !parse_real(p, &q->init_std)) return false;
    if (parse_accept(p, ',')) {
        q->init_mean = q->init_std;
        if (!parse_real(p, &q->init_std)) return false;
    }
    return parse_expect(p, ')');
}

static bool parse_param(GraphParser *p) {
    Param q = {0};
    if (!parse_row(p, p->g->params.n) || !parse_param_name(p, &q.name) || !parse_type(p, &q.type) ||
        !parse_init(p, &q))
        return false;
    q.key = q.name.path;
    q.compute_dtype = q.reduce_dtype = q.type.dtype;
    while (parse_accept_word(p, "alias")) {
        ParamName name = {0};
        if (!parse_param_name(p, &name)) return false;
        vec_push(p->g->arena, &q.aliases, name);
    }
    if (parse_accept_word(p, "key") && !parse_string(p, &q.key)) return false;
    if (parse_accept_word(p, "checkpoint") && !parse_string(p, &q.checkpoint)) return false;
    q.checkpoint_transposed = parse_accept_word(p, "transposed");
    if (parse_accept_word(p, "compute") && !parse_dtype(p, &q.compute_dtype)) return false;
    if (parse_accept_word(p, "reduce") && !parse_dtype(p, &q.reduce_dtype)) return false;
#define FLAG(name) q.name = parse_accept_word(p, #name);
    PARAM_FLAGS(FLAG)
    if (parse_accept_word(p, "axis") && !parse_int(p, &q.split_axis)) return false;
    if (parse_accept_word(p, "cut") && !parse_cut(p, &q.cut)) return false;
    if (parse_accept_word(p, "partial") && !parse_axes(p, &q.partial)) return false;
    if (parse_accept_word(p, "stage") && !parse_i32(p, &q.stage)) return false;
    if (parse_accept_word(p, "readers") &&
        (!parse_i32(p, &q.readers) || !parse_expect_word(p, "copy") || !parse_i32(p, &q.copy_of) ||
         q.copy_of++ == INT32_MAX))
        return false;
    q.matrix = parse_accept_word(p, "matrix");
    if (parse_accept_word(p, "gather") && !parse_dtype(p, &q.gather)) return false;
    q.grouped = parse_accept_word(p, "lr");
    if (q.grouped && (!parse_real(p, &q.lr_factor) || !parse_expect_word(p, "decay") ||
                      !parse_real(p, &q.weight_decay)))
        return false;
    vec_push(p->g->arena, &p->g->params, q);
    return true;
}

/* Of a state that says nothing of its own, until groups are there. */
#define AS_GROUP UINT32_MAX
static bool parse_state(GraphParser *p) {
    State s = {.group = NO_INDEX, .stage = NO_INDEX};
    int role;
    if (!parse_row(p, p->g->states.n) ||
        !parse_enum(p, "the role of a state", &words_StateRole, &role))
        return false;
    s.role = (StateRole)role;
    if (!parse_string(p, &s.name) || !parse_type(p, &s.type)) return false;
    if (parse_accept_word(p, "group") && !parse_i32(p, &s.group)) return false;
    s.split = AS_GROUP;
    if (parse_accept_word(p, "split") && !parse_axes(p, &s.split)) return false;
    if (parse_accept_word(p, "partial") && !parse_axes(p, &s.partial)) return false;
    if (parse_accept_word(p, "stage") && !parse_i32(p, &s.stage)) return false;
    if (!parse_address(p, &s.address)) return false;
    vec_push(p->g->arena, &p->g->states, s);
    return true;
}

static bool parse_batch_field(GraphParser *p) {
    Field f = {.of = NO_INDEX};
    if (!parse_row(p, p->g->fields.n) || !parse_string(p, &f.name) || !parse_type(p, &f.type) ||
        !parse_expect_word(p, "staging") || !parse_uint(p, INT64_MAX, &f.staging) ||
        (parse_accept_word(p, "of") && !parse_i32(p, &f.of)))
        return false;
    vec_push(p->g->arena, &p->g->fields, f);
    return true;
}

static bool parse_unit(GraphParser *p) {
    Unit u = {0};
    int32_t row = 0;
    if (!parse_row(p, p->g->units.n) || !parse_string(p, &u.name) ||
        !parse_name(p, &u.class_name) || !parse_expect_word(p, "modules"))
        return false;
    while (parse_is_digit(parse_peek(p)) || (u.modules.n && parse_accept(p, ','))) {
        if (!parse_i32(p, &row)) return false;
        vec_push(p->g->arena, &u.modules, row);
    }
    if (!parse_expect_word(p, "groups")) return false;
    while (parse_is_digit(parse_peek(p)) || (u.groups.n && parse_accept(p, ','))) {
        if (!parse_i32(p, &row)) return false;
        vec_push(p->g->arena, &u.groups, row);
    }
    if (!parse_expect_word(p, "below") || !parse_int(p, &u.below) ||
        !parse_expect_word(p, "owned") || !parse_int(p, &u.owned))
        return false;
    int reshard = UNIT_RESHARDS - 1; /* .. RESHARD_POLICY, 0, which is not written */
    while (reshard && !parse_accept_word(p, word_of(&words_UnitReshard, reshard))) reshard--;
    u.reshard = (UnitReshard)reshard;
    if (parse_accept_word(p, "stage") && !parse_i32(p, &u.stage)) return false;
    u.is_root = parse_accept_word(p, "root");
    vec_push(p->g->arena, &p->g->units, u);
    return true;
}

static bool parse_group(GraphParser *p) {
    Group q = {0};
    if (!parse_row(p, p->g->groups.n) || !parse_expect_word(p, "unit") || !parse_i32(p, &q.unit))
        return false;
    q.matrices = parse_accept_word(p, "matrices");
    q.trainable = q.matrices || parse_accept_word(p, "trainable");
    if ((!q.trainable && !parse_expect_word(p, "frozen")) || !parse_expect_word(p, "master") ||
        !parse_dtype(p, &q.master_dtype) || !parse_expect_word(p, "compute") ||
        !parse_dtype(p, &q.compute_dtype) || !parse_expect_word(p, "reduce") ||
        !parse_dtype(p, &q.reduce_dtype))
        return false;
    q.wire_dtype = q.compute_dtype;
    if (parse_accept_word(p, "wire") && !parse_dtype(p, &q.wire_dtype)) return false;
    if (!parse_expect_word(p, "params")) return false;
    while (parse_is_digit(parse_peek(p)) || (q.params.n && parse_accept(p, ','))) {
        GroupParam one = {0};
        if (!parse_i32(p, &one.param) || !parse_expect(p, '@') || !parse_int(p, &one.offset) ||
            (parse_accept(p, '/') && !parse_int(p, &one.chunk)))
            return false;
        vec_push(p->g->arena, &q.params, one);
    }
    if (!parse_expect_word(p, "unpadded") || !parse_int(p, &q.layout.unpadded) ||
        !parse_expect_word(p, "padded") || !parse_int(p, &q.layout.padded) ||
        !parse_expect_word(p, "shard") || !parse_int(p, &q.layout.shard))
        return false;
    if (parse_accept_word(p, "split") && !parse_axes(p, &q.layout.split)) return false;
    if (parse_accept_word(p, "cut") && !parse_axes(p, &q.cut)) return false;
    if (parse_accept_word(p, "partial") && !parse_axes(p, &q.partial)) return false;
    vec_push(p->g->arena, &p->g->groups, q);
    return true;
}

static bool parse_bytes(GraphParser *p, const char *word, uint64_t *out) {
    return parse_expect_word(p, word) && parse_uint(p, INT64_MAX, out);
}

static bool parse_arena(GraphParser *p) {
    RoleMemory m = {0};
    bool good = parse_bytes(p, "persistent", &m.persistent_bytes) &&
                parse_bytes(p, "bytes", &m.arena_bytes) && parse_expect_word(p, "workspace");
    for (int d = 0; good && d < DEVICE_KINDS; d++)
        good = parse_bytes(p, word_of(&words_DeviceKind, d), &m.workspace_bytes[d]);
    if (good && parse_accept_word(p, "host"))
        good = parse_bytes(p, "persistent", &m.host_persistent) &&
               parse_bytes(p, "bytes", &m.host_bytes);
    if (good && parse_accept_word(p, "slots"))
        good = parse_uint(p, INT64_MAX, &m.kept_slots) && parse_bytes(p, "of", &m.kept_bytes) &&
               parse_bytes(p, "at", &m.kept_at);
    if (good) vec_push(p->g->arena, &p->g->roles, m);
    return good;
}

/* ---- programs ---- */

static bool parse_program(GraphParser *p) {
    int kind;
    if (!parse_enum(p, "the kind of program", &words_ProgramKind, &kind)) return false;
    uint32_t row = graph_add_program(p->g, (ProgramKind)kind);
    p->program = &p->g->programs.at[row];
    int part = STAGE_PARTS - 1; /* .. STAGE_WHOLE, 0, which is not written */
    while (part && !parse_accept_word(p, word_of(&words_StagePart, part))) part--;
    p->program->part = (StagePart)part;
    if (parse_accept_word(p, "stage") && !parse_i32(p, &p->program->stage)) return false;
    return !parse_accept_word(p, "peak") || parse_uint(p, INT64_MAX, &p->program->peak);
}

/* The number after `%` or `#`; every number takes two bytes of text, so the text bounds them. */
static bool parse_number(GraphParser *p, char sign, uint32_t *out) {
    if (!parse_expect(p, sign) || !parse_u32(p, out)) return false;
    return *out <= p->size || parse_fail_token(p, "the number %u is too large", *out);
}

static bool define(GraphParser *p, TextNumbers *map, char sign, uint32_t number, uint32_t index) {
    while (map->at.n <= number) vec_push(p->scratch, &map->at, NO_VALUE);
    if (map->at.at[number] != NO_VALUE)
        return parse_fail_token(p, "%c%u is defined a second time", sign, number);
    map->at.at[number] = index;
    return true;
}

/* TextNumbers with their sign up to the closing bracket; slots are filled in at the end. */
static bool parse_references(GraphParser *p, char sign, uint32_t *n, uint32_t **slots) {
    uint32_t first = p->references.n;
    do {
        parse_peek(p);
        Reference r = {
            .line = p->line, .col = (uint32_t)(p->at - p->line_start) + 1, .is_op = sign == '#'};
        if (!parse_number(p, sign, &r.number)) return false;
        vec_push(p->scratch, &p->references, r);
    } while (parse_accept(p, ','));
    *n = p->references.n - first;
    *slots = arena_array(p->g->arena, uint32_t, *n);
    for (uint32_t i = 0; i < *n; i++) p->references.at[first + i].slot = *slots + i;
    return parse_expect(p, ')');
}

static bool parse_results(GraphParser *p, Op *op) {
    op->out = p->g->values.n;
    if (parse_peek(p) != '%') return true;
    do {
        uint32_t number;
        Value v = {.def = p->g->ops.n, .result = op->n_out};
        Placement placement;
        if (!parse_number(p, '%', &number) || !define(p, &p->values, '%', number, p->g->values.n) ||
            !parse_expect(p, ':') || !parse_placed_type(p, &v.type, &placement) ||
            !parse_address(p, &v.address) ||
            (parse_accept_word(p, "slot") && !parse_axes(p, &v.slots)))
            return false;
        if (placement_is_any(&placement))
            v.placement = arena_copy(p->g->arena, &placement, sizeof placement);
        graph_add_value(p->g, &v);
        op->n_out++;
    } while (parse_accept(p, ','));
    return parse_expect(p, '=');
}

static bool parse_attrs(GraphParser *p, Op *op) {
    Attrs attr = attrs_default(op->kind);
    bool any = parse_accept(p, '{');
    op->attr = graph_attrs(p->g, op->kind, NULL);
    if (!any) return true;
    char word[NAME_SIZE];
    do {
        if (!parse_word(p, "the name of an attribute", word)) return false;
        int i = 0;
        while (i < ATTR_COUNT && strcmp(word, attr_fields[i].name)) i++;
        if (i == ATTR_COUNT || !(op_info[op->kind].attrs >> i & 1))
            return parse_fail_token(p, "`%s` has no attribute `%s`", op_info[op->kind].name, word);
        if (!parse_expect(p, '=') || !parse_field(p, &attr_fields[i], &attr, true)) return false;
    } while (parse_accept(p, ','));
    op->attr = graph_attrs(p->g, op->kind, &attr);
    return parse_expect(p, '}');
}

static bool parse_stream(GraphParser *p, Op *op) {
    int stream;
    if (!parse_accept(p, '[')) return true;
    if (!parse_enum(p, "a stream", &words_StreamKind, &stream)) return false;
    op->stream = (uint8_t)stream;
    return parse_expect(p, ']');
}

/* !phase unit N "path" span */
static bool parse_op_tail(GraphParser *p, Op *op) {
    int phase;
    if (!parse_expect(p, '!') || !parse_enum(p, "a phase", &words_Phase, &phase)) return false;
    op->phase = (uint8_t)phase;
    op->recomputed = parse_accept_word(p, "recomputed");
    if (parse_accept_word(p, "unit") && !parse_i32(p, &op->unit)) return false;
    int32_t stage = 0;
    if (parse_accept_word(p, "stage") && !parse_i32(p, &stage)) return false;
    if (stage < NO_INDEX || stage > INT16_MAX)
        return parse_fail_token(p, "there is no stage %d", stage);
    op->stage = (int16_t)stage;
    return (parse_accept(p, '-') || parse_string(p, &op->path)) && parse_span(p, &op->span);
}

static bool parse_op(GraphParser *p) {
    Graph *g = p->g;
    Op op = {.path = "", .unit = NO_INDEX};
    uint32_t number, references = p->references.n, values = g->values.n;
    char word[NAME_SIZE];
    bool good = parse_number(p, '#', &number) && define(p, &p->ops, '#', number, g->ops.n) &&
                parse_stream(p, &op);
    if (good && parse_accept_word(p, "wait"))
        good = parse_expect(p, '(') && parse_references(p, '#', &op.n_edge, &op.edge);
    good = good && parse_results(p, &op) && parse_word(p, "the name of an op", word);
    if (good) op.kind = (OpKind)op_by_name(word);
    if (good && op.kind == OP_COUNT) good = parse_fail_token(p, "unknown op `%s`", word);
    if (good && parse_accept(p, '(')) good = parse_references(p, '%', &op.n_in, &op.in);
    good = good && parse_attrs(p, &op) && parse_op_tail(p, &op);
    if (!good) { /* its values stay, so that their readers are not reported too */
        p->references.n = references;
        for (; values < g->values.n; values++) g->values.at[values].def = NO_OP;
        return false;
    }
    vec_push(g->arena, &p->program->ops, g->ops.n);
    graph_add_op(g, &op);
    return true;
}

/* ---- lines ---- */

static bool parse_record(GraphParser *p, bool first) {
    static const struct {
        const char *word;
        bool (*parse)(GraphParser *p);
    } records[] = {
        {"file", parse_file},         {"mesh", parse_mesh},       {"policy", parse_policy},
        {"module", parse_module},     {"param", parse_param},     {"state", parse_state},
        {"field", parse_batch_field}, {"unit", parse_unit},       {"group", parse_group},
        {"arena", parse_arena},       {"formula", parse_formula}, {"program", parse_program},
    };
    if (first) {
        int level;
        if (!parse_expect_word(p, "graph") || !parse_enum(p, "a level", &words_OpLevel, &level))
            return false;
        p->g->level = (OpLevel)level;
        return true;
    }
    if (p->program && parse_peek(p) == '#') return parse_op(p);
    if (p->program) {
        if (!parse_expect_word(p, "end")) return false;
        p->program = NULL;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(records); i++)
        if (parse_accept_word(p, records[i].word)) return records[i].parse(p);
    return parse_fail(p, "expected a table row or a program");
}

static void next_line(GraphParser *p) {
    const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
    p->at = p->line_start = newline ? newline + 1 : p->end;
    p->line++;
}

static void resolve_states(GraphParser *p) {
    const Graph *g = p->g;
    for (uint32_t i = 0; i < g->states.n; i++) {
        State *s = &g->states.at[i];
        bool known = s->group >= 0 && s->group < (int64_t)g->groups.n;
        if (s->split == AS_GROUP) s->split = known ? g->groups.at[s->group].layout.split : 0;
    }
}

static void resolve_references(GraphParser *p) {
    for (uint32_t i = 0; i < p->references.n; i++) {
        const Reference *r = &p->references.at[i];
        const TextNumbers *map = r->is_op ? &p->ops : &p->values;
        *r->slot = r->number < map->at.n ? map->at.at[r->number] : NO_VALUE;
        p->failed = false;
        if (*r->slot == NO_VALUE)
            parse_fail_there(p, r->line, r->col, "%c%u is not defined", r->is_op ? '#' : '%',
                             r->number);
    }
}

Graph *graph_parse(Arena *a, DiagSet *ds, const char *name, const char *text, size_t n) {
    GraphParser p = {.g = graph_new(a, ds),
                     .scratch = arena_new(),
                     .file = diag_add_file(ds, name, text, n),
                     .at = text,
                     .end = text + n,
                     .line_start = text,
                     .line = 1,
                     .size = n};
    if (n >= UINT32_MAX) parse_fail(&p, "the text is larger than 4 GiB");
    bool first = true;
    while (p.at < p.end && p.errors <= MOST_ERRORS) {
        p.failed = false;
        if (parse_peek(&p) != '\n') {
            bool good = parse_record(&p, first);
            if (first && !good) break;
            if (good && parse_peek(&p) != '\n') parse_fail(&p, "the line should end here");
            first = false;
        }
        next_line(&p);
    }
    p.failed = false;
    if (first && !p.errors) parse_fail(&p, "a graph starts with `graph` and its level");
    if (p.program && !p.errors) parse_fail(&p, "the program does not end: `end` is missing");
    resolve_states(&p);
    if (!p.errors) resolve_references(&p);
    arena_free(p.scratch);
    return p.errors ? NULL : p.g;
}

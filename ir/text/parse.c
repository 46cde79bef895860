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

#include "records.h"

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

static bool parse_one_policy(GraphParser *p) {
    char word[NAME_SIZE];
    if (!parse_word(p, "the name of a policy", word) || !parse_expect(p, '=')) return false;
    bool known, good = text_policy(&(Record){.from = p}, word, &p->g->policy, &known);
    if (known) return good;
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

static bool parse_arena(GraphParser *p) {
    RoleMemory m = {0};
    if (!text_memory(&(Record){.from = p}, &m)) return false;
    vec_push(p->g->arena, &p->g->roles, m);
    return true;
}

/* ---- programs ---- */

static bool parse_program(GraphParser *p) {
    int kind;
    if (!parse_enum(p, "the kind of program", &words_ProgramKind, &kind)) return false;
    uint32_t row = graph_add_program(p->g, (ProgramKind)kind);
    p->program = &p->g->programs.at[row];
    return text_program(&(Record){.from = p}, p->program);
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
    good = good && parse_attrs(p, &op) && text_op_tail(&(Record){.from = p}, &op);
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
        {"file", parse_file},   {"mesh", parse_mesh},       {"policy", parse_policy},
        {"arena", parse_arena}, {"formula", parse_formula}, {"program", parse_program},
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
    bool known, good = parse_table(p, &known);
    return known ? good : parse_fail(p, "expected a table row or a program");
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

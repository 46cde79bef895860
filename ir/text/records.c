/* Records of a graph's text (levels.md): tables and policies, each described once for both
 * directions.
 *
 * A function goes over the fields of a record in the order of the text. Each field is printed, or
 * parsed into the same place: which of both, the Record says.
 */
#include "records.h"

#include <string.h>

/* ---- fields ---- */

/* What goes before a field that is printed. */
static const char *lead(Record *r) {
    const char *text = r->tight ? "" : " ";
    r->tight = false;
    return text;
}

/* A byte, which may be printed with blanks around it. */
static char byte_of(const char *text) { return *text == ' ' ? text[1] : *text; }

static bool mark(Record *r, const char *text) {
    char c = byte_of(text);
    if (r->from) return parse_expect(r->from, c);
    put_text(r->to, text);
    r->tight = c != ')' && c != ']';
    return true;
}

static bool word(Record *r, const char *text) {
    if (r->from) return parse_expect_word(r->from, text);
    put_words(r->to, lead(r), text);
    return true;
}

/* What need not be there: printed if it is, or looked for. */
static bool maybe_mark(Record *r, const char *text, bool there) {
    if (r->from) return parse_accept(r->from, byte_of(text));
    return there && mark(r, text);
}

static bool maybe(Record *r, const char *text, bool there) {
    if (r->from) return parse_accept_word(r->from, text);
    return there && word(r, text);
}

#define FIELD(name, type, put, parse)                                                              \
    static bool name(Record *r, type *x) {                                                         \
        if (r->from) return parse;                                                                 \
        put;                                                                                       \
        return true;                                                                               \
    }
FIELD(i32, int32_t, put_int(r->to, lead(r), *x), parse_i32(r->from, x))
FIELD(i64, int64_t, put_int(r->to, lead(r), *x), parse_int(r->from, x))
FIELD(u64, uint64_t, put_uint(r->to, lead(r), *x), parse_uint(r->from, INT64_MAX, x))
FIELD(real, double, put_real(r->to, lead(r), *x), parse_real(r->from, x))
FIELD(string, const char *, put_string(r->to, lead(r), *x), parse_string(r->from, x))
FIELD(name, const char *, put_name(r->to, lead(r), *x), parse_name(r->from, x))
FIELD(type, Type, put_type(r->to, lead(r), x), parse_type(r->from, x))
FIELD(dtype, int, put_words(r->to, lead(r), dtype_name(*x)), parse_dtype(r->from, x))
FIELD(axes, AxisSet, put_axes(r->to, lead(r), *x), parse_axes(r->from, x))
FIELD(span, Span, put_span(r->to, *x), parse_span(r->from, x))
FIELD(address, uint64_t, put_address(r->to, *x), parse_address(r->from, x))

static bool choice(Record *r, const char *what, const Words *words, int *x) {
    return r->from ? parse_enum(r->from, what, words, x) : word(r, word_of(words, *x));
}

/* A choice whose first word, 0, is not written. */
static int maybe_choice(Record *r, const Words *words, int x) {
    int k = words->n - 1;
    while (k && !maybe(r, word_of(words, k), k == x)) k--;
    return k;
}

/* Is there row number k of a list, with a comma before it? */
static bool next_row(Record *r, uint32_t k, uint32_t n) {
    if (r->from) return parse_is_digit(parse_peek(r->from)) || (k && parse_accept(r->from, ','));
    return k < n && (!k || mark(r, ", "));
}

/* Room for one that is parsed. */
#define GROW(list, ...)                                                                            \
    if (r->from) vec_push(r->from->g->arena, list, __VA_ARGS__)

/* Texts in quotes up to the closing bracket. */
static bool strings(Record *r, StringList *list, const char *close) {
    uint32_t n = list->at.n;
    if (r->from) *list = (StringList){0};
    for (uint32_t i = 0; !maybe_mark(r, close, i == n); i++) {
        GROW(&list->at, "");
        if ((i && !mark(r, ", ")) || !string(r, &list->at.at[i])) return false;
    }
    return true;
}

/* ---- policies ---- */

/* unit = root | class("A", "B") | size(1000, "Leaf", ..) | manual(["a", "b"], ["c"]), with its
 * place in the source. */
static bool text_unit_policy(Record *r, Policy *policy) {
    int unit = (int)policy->unit;
    if (!choice(r, "a unit policy", &words_UnitPolicy, &unit)) return false;
    policy->unit = (UnitPolicy)unit;
    if (unit != UNIT_ROOT && !mark(r, "(")) return false;
    if (unit == UNIT_CLASS && !strings(r, &policy->unit_classes, ")")) return false;
    if (unit == UNIT_SIZE) {
        StringList *leaf = &policy->unit_leaf;
        if (!i64(r, &policy->unit_size)) return false;
        if (!maybe_mark(r, ")", !leaf->at.n) && (!mark(r, ", ") || !strings(r, leaf, ")")))
            return false;
    }
    uint32_t n = policy->unit_manual.n;
    if (r->from && unit == UNIT_MANUAL) policy->unit_manual.n = 0;
    for (uint32_t i = 0; unit == UNIT_MANUAL && !maybe_mark(r, ")", i == n); i++) {
        GROW(&policy->unit_manual, (StringList){0});
        StringList *paths = &policy->unit_manual.at[i];
        if ((i && !mark(r, ", ")) || !mark(r, "[") || !strings(r, paths, "]")) return false;
    }
    return span(r, &policy->unit_span);
}

/* by_hand = lists(["a"] 1:2:3-2:5, ["b", "c"] ..); left out if there is none. */
static bool text_lists(Record *r, PathLists *lists) {
    uint32_t n = lists->at.n, i = 0;
    if (r->from) lists->at.n = 0;
    if (!word(r, "lists") || !mark(r, "(")) return false;
    do {
        GROW(&lists->at, (PathList){0});
        PathList *list = &lists->at.at[i];
        if (!mark(r, "[") || !strings(r, &list->paths, "]") || !span(r, &list->span)) return false;
    } while (maybe_mark(r, ", ", ++i < n));
    return mark(r, ")");
}

/* recompute = class("A", "B") ops("gelu") keep("linear"), those that there are, with its place. */
static bool text_recompute(Record *r, RecomputePolicy *policy) {
    StringList *const lists[] = {&policy->classes, &policy->ops, &policy->keep};
    static const char *const words[] = {"class", "ops", "keep"};
    bool any = false;
    for (size_t k = 0; k < ARRAY_LEN(lists);) {
        if (!maybe(r, words[k], lists[k]->at.n > 0)) {
            k++;
            continue;
        }
        if (!mark(r, "(") || !strings(r, lists[k], ")")) return false;
        any = true;
        k = r->from ? 0 : k + 1; /* they may come in any order */
    }
    return any ? span(r, &policy->span) : parse_fail(r->from, "expected `class`, `ops` or `keep`");
}

/* by_path = list("h.*" recompute 1:2:3-2:5, ..) */
static bool text_by_path(Record *r, Policy *policy) {
    uint32_t n = policy->by_path.n, i = 0;
    if (r->from) policy->by_path.n = 0;
    if (!word(r, "list") || !mark(r, "(")) return false;
    do {
        GROW(&policy->by_path, (PathPolicy){0});
        PathPolicy *path = &policy->by_path.at[i];
        int kind = (int)path->kind, reshard = (int)path->reshard;
        bool good = string(r, &path->glob) &&
                    choice(r, "what holds for a path", &words_PathPolicyKind, &kind);
        if (good && kind == PATH_RESHARD)
            good = choice(r, "`kept`, `given` or `part`", &words_UnitReshard, &reshard) &&
                   (reshard != RESHARD_PART || i64(r, &path->group));
        if (!good || !span(r, &path->span)) return false;
        path->kind = (PathPolicyKind)kind;
        path->reshard = (UnitReshard)reshard;
    } while (maybe_mark(r, ", ", ++i < n));
    return mark(r, ")");
}

bool text_policy(Record *r, const char *name, Policy *policy, bool *known) {
    *known = true;
    if (!strcmp(name, "unit")) return text_unit_policy(r, policy);
    if (!strcmp(name, "by_hand")) return text_lists(r, &policy->unit_by_hand);
    if (!strcmp(name, "stage_lists")) return text_lists(r, &policy->stage_lists);
    if (!strcmp(name, "recompute")) return text_recompute(r, &policy->recompute);
    if (!strcmp(name, "by_path")) return text_by_path(r, policy);
    return *known = false;
}

/* ---- tables ---- */

static bool text_module(Record *r, Module *m) {
    return string(r, &m->path) && name(r, &m->class_name) &&
           (!maybe(r, "parent", m->parent != NO_INDEX) || i32(r, &m->parent)) && span(r, &m->span);
}

static bool text_param_name(Record *r, ParamName *n) {
    return string(r, &n->path) && word(r, "module") && i32(r, &n->module) && span(r, &n->span);
}

/* normal(0.02), or normal(1, 0.02) with a mean. */
static bool text_init(Record *r, Param *q) {
    int init = (int)q->init;
    if (!choice(r, "an initial value", &words_InitKind, &init)) return false;
    q->init = (InitKind)init;
    if (q->init != INIT_NORMAL) return true;
    double first = q->init_mean != 0 ? q->init_mean : q->init_std;
    if (!mark(r, "(") || !real(r, &first)) return false;
    if (maybe_mark(r, ", ", q->init_mean != 0)) {
        q->init_mean = first;
        if (!real(r, &q->init_std)) return false;
    } else {
        q->init_std = first;
    }
    return mark(r, ")");
}

static bool text_cut(Record *r, TensorCut *cut) {
    return axes(r, &cut->axes) && word(r, "dim") && i32(r, &cut->dim) && word(r, "outer") &&
           i64(r, &cut->outer) && word(r, "size") && i64(r, &cut->size);
}

/* Which stages read it, and of which row it is the copy. */
static bool text_readers(Record *r, Param *q) {
    int32_t of = q->copy_of - 1;
    if (!i32(r, &q->readers) || !word(r, "copy") || !i32(r, &of) || of == INT32_MAX) return false;
    q->copy_of = of + 1;
    return true;
}

/* A parameter without a dtype of its own yet has the master's. */
static bool text_param(Record *r, Param *q) {
    if (!text_param_name(r, &q->name) || !type(r, &q->type) || !text_init(r, q)) return false;
    if (!q->key) q->key = q->name.path;
    if (!q->compute_dtype) q->compute_dtype = q->type.dtype;
    if (!q->reduce_dtype) q->reduce_dtype = q->type.dtype;
    for (uint32_t k = 0; maybe(r, "alias", k < q->aliases.n); k++) {
        GROW(&q->aliases, (ParamName){0});
        if (!text_param_name(r, &q->aliases.at[k])) return false;
    }
    if (maybe(r, "key", true) && !string(r, &q->key)) return false;
    if (maybe(r, "checkpoint", q->checkpoint != NULL) && !string(r, &q->checkpoint)) return false;
    q->checkpoint_transposed = maybe(r, "transposed", q->checkpoint_transposed);
    if (maybe(r, "compute", true) && !dtype(r, &q->compute_dtype)) return false;
    if (maybe(r, "reduce", true) && !dtype(r, &q->reduce_dtype)) return false;
#define FLAG(field) q->field = maybe(r, #field, q->field);
    PARAM_FLAGS(FLAG)
    if (maybe(r, "axis", q->split_axis != 0) && !i64(r, &q->split_axis)) return false;
    if (maybe(r, "cut", q->cut.axes != 0) && !text_cut(r, &q->cut)) return false;
    if (maybe(r, "partial", q->partial != 0) && !axes(r, &q->partial)) return false;
    if (maybe(r, "stage", q->stage != 0) && !i32(r, &q->stage)) return false;
    if (maybe(r, "readers", q->readers != 0) && !text_readers(r, q)) return false;
    q->matrix = maybe(r, "matrix", q->matrix);
    if (maybe(r, "gather", q->gather != 0) && !dtype(r, &q->gather)) return false;
    q->grouped = maybe(r, "lr", q->grouped);
    return !q->grouped || (real(r, &q->lr_factor) && word(r, "decay") && real(r, &q->weight_decay));
}

/* The group whose shards the state lies beside; NULL: none, or groups are not parsed yet. */
static const Group *group_of(const Record *r, const State *s) {
    bool known = r->to && s->group >= 0 && s->group < (int64_t)r->to->g->groups.n;
    return known ? &r->to->g->groups.at[s->group] : NULL;
}

/* Where it is, as far as it is not where its group's shards are. */
static bool text_state(Record *r, State *s) {
    int role = (int)s->role;
    if (!choice(r, "the role of a state", &words_StateRole, &role)) return false;
    s->role = (StateRole)role;
    if (!string(r, &s->name) || !type(r, &s->type)) return false;
    if (maybe(r, "group", s->group != NO_INDEX) && !i32(r, &s->group)) return false;
    const Group *group = group_of(r, s);
    bool apart = group && s->split != group->layout.split;
    if (maybe(r, "split", apart) && !axes(r, &s->split)) return false;
    if (maybe(r, "partial", group && s->partial) && !axes(r, &s->partial)) return false;
    if (maybe(r, "stage", s->stage != NO_INDEX) && !i32(r, &s->stage)) return false;
    return address(r, &s->address);
}

static bool text_field(Record *r, Field *f) {
    return string(r, &f->name) && type(r, &f->type) && word(r, "staging") && u64(r, &f->staging) &&
           (!maybe(r, "of", f->of != NO_INDEX) || i32(r, &f->of));
}

static bool text_unit(Record *r, Unit *u) {
    if (!string(r, &u->name) || !name(r, &u->class_name) || !word(r, "modules")) return false;
    for (uint32_t k = 0; next_row(r, k, u->modules.n); k++) {
        GROW(&u->modules, 0);
        if (!i32(r, &u->modules.at[k])) return false;
    }
    if (!word(r, "groups")) return false;
    for (uint32_t k = 0; next_row(r, k, u->groups.n); k++) {
        GROW(&u->groups, 0);
        if (!i32(r, &u->groups.at[k])) return false;
    }
    if (!word(r, "below") || !i64(r, &u->below) || !word(r, "owned") || !i64(r, &u->owned))
        return false;
    u->reshard = (UnitReshard)maybe_choice(r, &words_UnitReshard, (int)u->reshard);
    if (maybe(r, "stage", u->stage != 0) && !i32(r, &u->stage)) return false;
    u->is_root = maybe(r, "root", u->is_root);
    return true;
}

static bool text_group(Record *r, Group *q) {
    if (!word(r, "unit") || !i32(r, &q->unit)) return false;
    q->matrices = maybe(r, "matrices", q->matrices);
    q->trainable = q->matrices || maybe(r, "trainable", q->trainable);
    if ((!q->trainable && !word(r, "frozen")) || !word(r, "master") ||
        !dtype(r, &q->master_dtype) || !word(r, "compute") || !dtype(r, &q->compute_dtype) ||
        !word(r, "reduce") || !dtype(r, &q->reduce_dtype))
        return false;
    if (r->from) q->wire_dtype = q->compute_dtype;
    if (maybe(r, "wire", q->wire_dtype != q->compute_dtype) && !dtype(r, &q->wire_dtype))
        return false;
    if (!word(r, "params")) return false;
    for (uint32_t k = 0; next_row(r, k, q->params.n); k++) {
        GROW(&q->params, (GroupParam){0});
        GroupParam *one = &q->params.at[k];
        if (!i32(r, &one->param) || !mark(r, "@") || !i64(r, &one->offset) ||
            (maybe_mark(r, "/", one->chunk != 0) && !i64(r, &one->chunk)))
            return false;
    }
    Layout *l = &q->layout;
    if (!word(r, "unpadded") || !i64(r, &l->unpadded) || !word(r, "padded") ||
        !i64(r, &l->padded) || !word(r, "shard") || !i64(r, &l->shard))
        return false;
    return (!maybe(r, "split", l->split != 0) || axes(r, &l->split)) &&
           (!maybe(r, "cut", q->cut != 0) || axes(r, &q->cut)) &&
           (!maybe(r, "partial", q->partial != 0) || axes(r, &q->partial));
}

/* Each table: the word of its rows, and what a row has that the text leaves out. */
#define TABLES(TABLE)                                                                              \
    TABLE(modules, module, Module, .parent = NO_INDEX)                                             \
    TABLE(params, param, Param, .key = NULL)                                                       \
    TABLE(states, state, State, .group = NO_INDEX, .stage = NO_INDEX, .split = AS_GROUP)           \
    TABLE(fields, field, Field, .of = NO_INDEX)                                                    \
    TABLE(units, unit, Unit, .reshard = RESHARD_POLICY)                                            \
    TABLE(groups, group, Group, .unit = 0)

void print_tables(GraphPrinter *p) {
    Record r = {.to = p};
#define TABLE(table, word, Row, ...)                                                               \
    for (uint32_t i = 0; i < p->g->table.n; i++) {                                                 \
        Row row = p->g->table.at[i];                                                               \
        put_uint(p, #word " ", i);                                                                 \
        text_##word(&r, &row);                                                                     \
        put_text(p, "\n");                                                                         \
    }
    TABLES(TABLE)
#undef TABLE
}

bool parse_table(GraphParser *p, bool *known) {
    Record r = {.from = p};
    *known = true;
#define TABLE(table, word, Row, ...)                                                               \
    if (parse_accept_word(p, #word)) {                                                             \
        Row row = {__VA_ARGS__};                                                                   \
        if (!parse_row(p, p->g->table.n) || !text_##word(&r, &row)) return false;                  \
        vec_push(p->g->arena, &p->g->table, row);                                                  \
        return true;                                                                               \
    }
    TABLES(TABLE)
#undef TABLE
    return *known = false;
}

/* ---- memory and programs ---- */

static bool bytes(Record *r, const char *what, uint64_t *n) { return word(r, what) && u64(r, n); }

bool text_memory(Record *r, RoleMemory *m) {
    bool good = bytes(r, "persistent", &m->persistent_bytes) &&
                bytes(r, "bytes", &m->arena_bytes) && word(r, "workspace");
    for (int d = 0; good && d < DEVICE_KINDS; d++)
        good = bytes(r, word_of(&words_DeviceKind, d), &m->workspace_bytes[d]);
    if (good && maybe(r, "host", m->host_bytes != 0))
        good = bytes(r, "persistent", &m->host_persistent) && bytes(r, "bytes", &m->host_bytes);
    if (good && maybe(r, "slots", m->kept_slots != 0))
        good =
            u64(r, &m->kept_slots) && bytes(r, "of", &m->kept_bytes) && bytes(r, "at", &m->kept_at);
    return good;
}

bool text_program(Record *r, Program *program) {
    program->part = (StagePart)maybe_choice(r, &words_StagePart, (int)program->part);
    if (maybe(r, "stage", program->stage != 0) && !i32(r, &program->stage)) return false;
    return !maybe(r, "peak", r->to && r->to->g->level >= LEVEL_SCHED) || u64(r, &program->peak);
}

/* !phase unit N "path" span */
bool text_op_tail(Record *r, Op *op) {
    int phase = op->phase;
    int32_t stage = op->stage;
    if (!mark(r, " !") || !choice(r, "a phase", &words_Phase, &phase)) return false;
    op->phase = (uint8_t)phase;
    op->recomputed = maybe(r, "recomputed", op->recomputed);
    if (maybe(r, "unit", op->unit != NO_INDEX) && !i32(r, &op->unit)) return false;
    if (maybe(r, "stage", stage != 0) && !i32(r, &stage)) return false;
    if (stage < NO_INDEX || stage > INT16_MAX)
        return parse_fail_token(r->from, "there is no stage %d", stage);
    op->stage = (int16_t)stage;
    return (maybe_mark(r, " -", !*op->path) || string(r, &op->path)) && span(r, &op->span);
}

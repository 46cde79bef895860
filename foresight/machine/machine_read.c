/* The reader of machine files: JSON, held against machine.def. Every fault is reported with its
 * path in the file; an unknown name gets the nearest known one. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine_file.h"
#include "op.h"

/* Byte counts must fit 64 bits. */
#define MOST 1e18
#define LEAST_FACTOR 0.001
enum { MOST_RANKS = 1 << 20 /* of a mesh */, MOST_WORDS = 8 };

const MachineGroup machine_groups[] = {
#define GROUP(name, kind, key, doc) {#name, key, GROUP_##kind},
#define CONSTANT(group, key, lowest, doc)
#include "machine.def"
#undef GROUP
#undef CONSTANT
};

static const struct Row {
    GroupId group;
    const char *key;
    double lowest;
    bool curve;
} constants[] = {
#define GROUP(name, kind, key, doc)
#define CONSTANT(group, key, lowest, doc) {GROUP_ID_##group, #key, lowest, false},
#define CURVE(group, key, doc) {GROUP_ID_##group, #key, 0, true},
#include "machine.def"
#undef GROUP
#undef CONSTANT
};

bool machine_allows(const char *path, double value) {
    const char *key = strrchr(path, '.') + 1;
    size_t name = strcspn(path, ".");
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        const char *group = machine_groups[constants[i].group].name;
        if (!strcmp(constants[i].key, key) && strlen(group) == name && !memcmp(group, path, name))
            return value >= constants[i].lowest && value <= MOST;
    }
    return false;
}

typedef struct Reader {
    Machine *m;
    Arena *a;
} Reader;

static void fault(const Reader *r, const char *path, const char *help, const char *message) {
    diag_report(r->m->diags, E_machine, (Span){0}, help, "%s: %s%s%s", r->m->file, path,
                *path ? ": " : "", message);
}

static void unknown(const Reader *r, const char *path, const char *name, const char *const *known,
                    size_t n) {
    const char *nearest = nearest_name(name, known, n), *help = "known names: ";
    for (size_t i = 0; i < n && !nearest; i++)
        help = arena_printf(r->a, "%s%s%s", help, i ? ", " : "", known[i]);
    if (nearest) help = arena_printf(r->a, "did you mean `%s`?", nearest);
    fault(r, path, help, arena_printf(r->a, "there is no `%s` here", name));
}

static bool is_object(const Reader *r, const char *path, const json_t *j) {
    if (!json_is_object(j)) fault(r, path, NULL, "an object is expected");
    return json_is_object(j);
}

static const char *below(const Reader *r, const char *path, const char *name) {
    return arena_printf(r->a, "%s%s%s", path, *path ? "." : "", name);
}

/* A number of a range; `where`: as in value[2][0]. */
static double read_number(const Reader *r, const char *where, double lowest, double most,
                          const json_t *j) {
    double number = json_number_value(j);
    if (json_is_number(j) && number >= lowest && number <= most) return number;
    fault(r, where, NULL, arena_printf(r->a, "a number from %g to %g is expected", lowest, most));
    return lowest;
}

/* [[x, factor], ..] */
static void read_curve(const Reader *r, const char *path, MachineConstant *c, const json_t *j) {
    size_t n = json_array_size(j);
    MachinePoint *points = arena_array(r->a, MachinePoint, n + 1);
    double last = 0;
    if (!n) fault(r, path, NULL, "an array of pairs [number, factor] is expected");
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(j, i);
        const char *at = arena_printf(r->a, "%s[%zu]", path, i);
        if (json_array_size(pair) != 2) {
            fault(r, at, NULL, "a pair [number, factor] is expected");
            continue;
        }
        points[i].x =
            read_number(r, arena_printf(r->a, "%s[0]", at), 0, MOST, json_array_get(pair, 0));
        points[i].factor = read_number(r, arena_printf(r->a, "%s[1]", at), LEAST_FACTOR, 1,
                                       json_array_get(pair, 1));
        if (i && points[i].x <= last)
            fault(r, at, NULL, "the first number must be greater than that of the pair before");
        last = points[i].x;
    }
    c->points = points;
    c->n_points = (uint32_t)n;
}

/* {"value": N, "from": "text"} */
static void read_constant(Reader *r, const char *path, const char *stored, const struct Row *row,
                          json_t *j) {
    static const char *const known[] = {"value", "from"};
    const char *name;
    json_t *item, *value = json_object_get(j, "value"), *from = json_object_get(j, "from");
    if (!is_object(r, path, j)) return;
    json_object_foreach(j, name, item) {
        if (strcmp(name, known[0]) && strcmp(name, known[1]))
            unknown(r, path, name, known, ARRAY_LEN(known));
    }
    MachineConstant c = {.path = stored};
    if (row->curve)
        read_curve(r, below(r, path, "value"), &c, value);
    else
        c.value = read_number(r, below(r, path, "value"), row->lowest, MOST, value);
    if (!json_is_string(from) || !json_string_length(from))
        fault(r, below(r, path, "from"),
              "for example \"data sheet\", \"assumed\" or \"measured, 32 points, 3.1 %\"",
              "a text that says where the value comes from is expected");
    c.from = arena_strdup(r->a, json_is_string(from) ? json_string_value(from) : "");
    vec_push(r->a, &r->m->constants, c);
}

/* An object whose members are the group's constants and, in a list, its key. */
static void read_constants(Reader *r, GroupId group, const char *path, const char *stored,
                           json_t *j) {
    const char *known[ARRAY_LEN(constants) + 1], *name;
    const struct Row *row[ARRAY_LEN(constants) + 1];
    size_t n = 0;
    json_t *item;
    if (!is_object(r, path, j)) return;
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (constants[i].group != group) continue;
        row[n] = &constants[i];
        known[n++] = constants[i].key;
    }
    json_object_foreach(j, name, item) {
        size_t k = 0;
        while (k < n && strcmp(known[k], name)) k++;
        if (k < n)
            read_constant(r, below(r, path, name), below(r, stored, name), row[k], item);
        else if (machine_groups[group].kind != GROUP_LIST ||
                 strcmp(machine_groups[group].key, name))
            unknown(r, path, name, known, n);
    }
}

/* The words of a list in which blanks separate them. */
static size_t split_words(const Reader *r, const char *list, const char *words[MOST_WORDS]) {
    size_t n = 0;
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        CHECK(n < MOST_WORDS);
        words[n++] = arena_strndup(r->a, at, length);
        at += length;
    }
    return n;
}

static void read_words(Reader *r, GroupId group, json_t *j) {
    const char *known[MOST_WORDS + OP_COUNT], *name;
    size_t words = split_words(r, machine_groups[group].key, known), n = words;
    for (int op = 0; op < OP_COUNT && machine_groups[group].kind == GROUP_OPS; op++)
        known[n++] = op_info[op].name;
    json_t *item;
    json_object_foreach(j, name, item) {
        const char *path = below(r, machine_groups[group].name, name);
        size_t t = 0;
        while (t < n && strcmp(known[t], name)) t++;
        if (t == n) /* a list of all ops would help nobody */
            unknown(r, machine_groups[group].name, name, known,
                    nearest_name(name, known, n) ? n : words);
        else
            read_constants(r, group, path, path, item);
    }
}

/* Elements are in ascending order of their key, so that none comes twice. */
static void read_list(Reader *r, GroupId group, json_t *j) {
    const char *name = machine_groups[group].name, *key_name = machine_groups[group].key;
    json_int_t last = 0;
    if (!json_is_array(j)) fault(r, name, NULL, "an array is expected");
    for (size_t i = 0; i < json_array_size(j); i++) {
        json_t *item = json_array_get(j, i), *key = json_object_get(item, key_name);
        const char *path = arena_printf(r->a, "%s[%zu]", name, i);
        json_int_t number = json_integer_value(key);
        if (!json_is_integer(key) || number <= last || number > MOST_RANKS)
            fault(r, below(r, path, key_name), NULL,
                  arena_printf(r->a, "a whole number from %lld to %d is expected",
                               (long long)last + 1, MOST_RANKS));
        last = MAX(last, number);
        read_constants(r, group, path, arena_printf(r->a, "%s.%lld", name, (long long)number),
                       item);
    }
}

static void read_group(Reader *r, GroupId group, json_t *j) {
    const char *name = machine_groups[group].name;
    switch (machine_groups[group].kind) {
    case GROUP_ONE: read_constants(r, group, name, name, j); return;
    case GROUP_WORDS:
    case GROUP_OPS:
        if (is_object(r, name, j)) read_words(r, group, j);
        return;
    case GROUP_LIST: read_list(r, group, j); return;
    }
}

static bool right_format(Reader *r, const json_t *all) {
    const json_t *format = json_object_get(all, "format");
    json_int_t n = json_integer_value(format);
    if (!is_object(r, "", all)) return false;
    if (json_is_integer(format) && n == MACHINE_FORMAT) return true;
    if (json_is_integer(format) && n > MACHINE_FORMAT)
        fault(r, "format", "use the fsdpc that it was written for, or a newer one",
              arena_printf(r->a, "%lld is newer than %d, which this fsdpc reads", (long long)n,
                           MACHINE_FORMAT));
    else
        fault(r, "format", NULL, arena_printf(r->a, "%d is expected", MACHINE_FORMAT));
    return false;
}

/* "cuda" or "cpu" */
static void read_kind(Reader *r, const json_t *j) {
    int kind = json_is_string(j) ? word_find(&words_DeviceKind, json_string_value(j)) : -1;
    if (kind < 0) fault(r, "kind", NULL, "\"cuda\" or \"cpu\" is expected");
    r->m->kind = kind < 0 ? DEVICE_CUDA : (DeviceKind)kind;
}

static void read_groups(Reader *r, json_t *all) {
    const char *known[GROUPS + 1], *name;
    json_t *item;
    for (int g = 0; g < GROUPS; g++) known[g] = machine_groups[g].name;
    known[GROUPS] = "kind";
    json_object_foreach(all, name, item) {
        int g = 0;
        while (g < GROUPS && strcmp(known[g], name)) g++;
        if (g < GROUPS)
            read_group(r, (GroupId)g, item);
        else if (!strcmp(name, "kind"))
            read_kind(r, item);
        else if (strcmp(name, "format"))
            unknown(r, "", name, known, GROUPS + 1);
    }
}

Machine *machine_read_text(DiagSet *ds, Arena *a, const char *file, const char *text, size_t n) {
    Reader r = {arena_new_of(a, Machine), a};
    json_error_t error;
    int before = ds->errors;
    r.m->diags = ds;
    r.m->file = file;
    r.m->kind = DEVICE_CUDA;
    json_t *all = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!all)
        fault(&r, "", NULL,
              arena_printf(a, "not JSON in line %d, column %d: %s", error.line, error.column,
                           error.text));
    else if (right_format(&r, all))
        read_groups(&r, all);
    json_decref(all);
    return ds->errors == before ? r.m : NULL;
}

Machine *machine_read(DiagSet *ds, Arena *a, const char *file) {
    size_t n;
    char *text = read_file(file, &n);
    if (!text) fail_environment("cannot read %s: %s", file, strerror(errno));
    Machine *m = machine_read_text(ds, a, file, text, n);
    free(text);
    return m;
}

/* ---- constants by path ---- */

const MachineConstant *machine_find(const Machine *m, const char *path) {
    for (uint32_t i = 0; i < m->constants.n; i++)
        if (!strcmp(m->constants.at[i].path, path)) return &m->constants.at[i];
    return NULL;
}

const MachineConstant *machine_need(const Machine *m, const char *path) {
    const MachineConstant *c = machine_find(m, path);
    if (c) return c;
    diag_report(m->diags, E_machine, (Span){0},
                "add it: {\"value\": NUMBER, \"from\": \"where it comes from\"}",
                "%s: %s is needed and missing", m->file, path);
    return NULL;
}

/* The key of a constant of the group; 0: it is of another. */
static int64_t key_of(const MachineConstant *c, const char *group, size_t n) {
    bool of_group = !strncmp(c->path, group, n) && c->path[n] == '.';
    return of_group ? strtoll(c->path + n + 1, NULL, 10) : 0;
}

int64_t machine_largest(const Machine *m, const char *group) {
    int64_t largest, none;
    machine_neighbours(m, group, INT64_MAX, &largest, &none);
    return largest;
}

void machine_neighbours(const Machine *m, const char *group, int64_t key, int64_t *below,
                        int64_t *above) {
    size_t n = strlen(group);
    *below = *above = 0;
    for (uint32_t i = 0; i < m->constants.n; i++) {
        int64_t k = key_of(&m->constants.at[i], group, n);
        if (k && k <= key) *below = MAX(*below, k);
        if (k >= key && (!*above || k < *above)) *above = k;
    }
}

double machine_factor(const MachineConstant *curve, double x) {
    const MachinePoint *p = curve->points, *end = p + curve->n_points;
    if (x <= p->x) return p->factor;
    while (p + 1 < end && p[1].x < x) p++;
    if (p + 1 == end) return p->factor;
    double from = log(fmax(p->x, 1)), share = (log(x) - from) / (log(p[1].x) - from);
    return p->factor + fmin(fmax(share, 0), 1) * (p[1].factor - p->factor);
}

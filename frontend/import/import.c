/* Configuration files of other systems: each key becomes settings, or is named with the reason why
 * it has no effect, or is refused with the remedy. imports.def says which.
 *
 * In: the files of --accelerate and --deepspeed. Out: settings of the model, as if `-s` came before
 * those of the command line; a note that names the keys without effect; what became of each key,
 * for `dump --stage=config`. The defaults of Accelerate and DeepSpeed are not applied: where the
 * file lacks a key, the setting of the model file holds.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import.h"

#define IMPORT(format, key, when, values, action, text)                                            \
    {IMPORT_##format, key, when, values, IMPORT_##action, text},
static const ImportRow import_table[] = {
#include "imports.def"
};
enum { IMPORT_ROWS = ARRAY_LEN(import_table) };

/* Settings that several keys make together, item by item; `default_text` is an item's value where
 * no key gives it, NULL: the item is left out. */
static const struct {
    const char *setting, *item, *default_text;
} setting_items[] = {
    {"shard.prefetch", "forward", "1"}, {"shard.prefetch", "backward", "1"},
    {"shard.offload", "states", NULL},  {"shard.offload", "params", NULL},
    {"shard.offload", "grads", NULL},   {"shard.offload", "pin", NULL},
    {"shard.offload", "path", NULL},
};

typedef struct Importer {
    Model *m;
    ImportFormat format;
    ImportedFile *in;
    const char *item[ARRAY_LEN(setting_items)]; /* its value, or NULL */
    ImportEntry *by[ARRAY_LEN(setting_items)];  /* the key that gave it */
} Importer;

/* ---- rows ---- */

static const char *value_at(const ImportedFile *in, const char *key) {
    for (uint32_t i = 0; i < in->entries.n; i++)
        if (!strcmp(in->entries.at[i].key, key)) return in->entries.at[i].text;
    return NULL;
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return end != text && !*end;
}

/* YAML has other words for true and false. */
static bool is_word(const char *word, size_t n, const char *value) {
    static const char *const others[][2] = {
        {"true", "yes"}, {"true", "on"}, {"false", "no"}, {"false", "off"}};
    bool is = strlen(value) == n && !strncasecmp(word, value, n);
    for (size_t i = 0; i < ARRAY_LEN(others) && !is; i++)
        is = strlen(others[i][0]) == n && !strncmp(word, others[i][0], n) &&
             !strcasecmp(value, others[i][1]);
    return is;
}

/* Is the value one of values, separated by bars? 0.0 is 0. */
static bool value_fits(const char *values, const char *value) {
    bool number = is_number(value);
    for (const char *at = values; *at;) {
        size_t n = strcspn(at, "|");
        char *end;
        double x = strtod(at, &end);
        bool any = n == 1 && (*at == '*' || (number && *at == '#'));
        bool same = number && end == at + n && x == strtod(value, NULL);
        if (any || same || is_word(at, n, value)) return true;
        at += n + (at[n] == '|');
    }
    return false;
}

static bool condition_holds(const ImportedFile *in, const char *when) {
    size_t n = strcspn(when, "=");
    char key[128];
    if (!when[n]) return true;
    CHECK(n < sizeof key);
    memcpy(key, when, n);
    key[n] = 0;
    const char *value = value_at(in, key);
    return value_fits(when + n + 1, value ? value : "null");
}

static bool is_prefix_pattern(const char *pattern) { return pattern[strlen(pattern) - 1] == '*'; }

static bool pattern_names(const char *pattern, const char *key) {
    return is_prefix_pattern(pattern) ? !strncmp(pattern, key, strlen(pattern) - 1)
                                      : !strcmp(pattern, key);
}

/* Is it a section that has keys in the table? An empty section sets nothing. */
static bool is_section(const ImportRow *row, const char *key) {
    size_t n = strlen(key);
    return !strncmp(row->key, key, n) && row->key[n] == '.';
}

/* known: there is a row for this key. A row for many keys counts only if its condition holds. */
static const ImportRow *find_row(const Importer *i, const ImportEntry *e, bool *known) {
    static const ImportRow automatic = {
        .action = IMPORT_IDLE, .text = "Transformers fills it in; here the model file does"};
    static const ImportRow empty = {.action = IMPORT_IDLE, .text = "it is empty"};
    *known = false;
    for (uint32_t k = 0; k < IMPORT_ROWS; k++) {
        const ImportRow *row = &import_table[k];
        if (row->format != i->format) continue;
        if (!strcmp(e->text, "null") && is_section(row, e->key)) return &empty;
        if (!pattern_names(row->key, e->key)) continue;
        bool holding = condition_holds(i->in, row->when);
        if (is_prefix_pattern(row->key) && !holding) continue;
        *known = true;
        if (i->format == IMPORT_DEEPSPEED && !strcmp(e->text, "auto")) return &automatic;
        if (holding && value_fits(row->values, e->text)) return row;
    }
    return NULL;
}

/* ---- settings ---- */

/* 5e8 is meant as a whole number. */
static const char *plain_number(Arena *a, const char *text) {
    double x = is_number(text) ? strtod(text, NULL) : 0.5;
    bool whole = x > -1e15 && x < 1e15 && x == (double)(int64_t)x;
    return whole ? arena_printf(a, "%lld", (long long)x) : text;
}

/* The row's text with the values filled in. */
static const char *fill_in(Importer *i, const ImportEntry *e, const char *text) {
    Arena *a = i->m->arena;
    Buf out = {0};
    for (const char *at = text; *at; at++) {
        if (*at != '$') {
            buf_write(&out, at, 1);
        } else if (at[1] != '{') {
            buf_printf(&out, "%s", plain_number(a, e->text));
        } else {
            const char *colon = strchr(at, ':'), *end = strchr(at, '}');
            CHECK(colon && end && colon < end);
            const char *value = value_at(i->in, arena_strndup(a, at + 2, (size_t)(colon - at - 2)));
            bool given = value && strcmp(value, "null") != 0;
            buf_printf(&out, "%s",
                       given ? plain_number(a, value)
                             : arena_strndup(a, colon + 1, (size_t)(end - colon - 1)));
            at = end;
        }
    }
    return buf_text(a, &out);
}

/* Sets one `section.key = value`. */
static void set_one(Importer *i, const ImportEntry *e, const char *text) {
    Model *m = i->m;
    const char *name = arena_printf(m->arena, "%s: %s", i->in->path, e->key);
    uint32_t file = diag_add_file(m->ds, name, text, strlen(text));
    size_t dot = strcspn(text, "."), equals = strcspn(text, "=");
    size_t end = equals;
    while (text[end - 1] == ' ') end--;
    const Node *value = parse_source(m->ds, file, PARSE_EXPRESSION, (uint32_t)equals + 1);
    if (value)
        model_set_key(m, arena_strndup(m->arena, text, dot),
                      arena_strndup(m->arena, text + dot + 1, end - dot - 1), e->span, value,
                      model_place(m, e->span), true);
}

/* The row of setting_items of `setting.item = value`, and its value; -1: it is a whole setting. */
static int item_of(const char *one, const char **value) {
    for (int k = 0; k < (int)ARRAY_LEN(setting_items); k++) {
        size_t n = strlen(setting_items[k].setting), m = strlen(setting_items[k].item);
        if (strncmp(one, setting_items[k].setting, n) || one[n] != '.') continue;
        if (strncmp(one + n + 1, setting_items[k].item, m) || strncmp(one + n + 1 + m, " = ", 3))
            continue;
        *value = one + n + 1 + m + 3;
        return k;
    }
    return -1;
}

static void keep_item(Importer *i, ImportEntry *e, int item, const char *value) {
    if (i->item[item] && strcmp(i->item[item], value))
        diag_report(i->m->ds, E_import_refused, e->span,
                    arena_printf(i->m->arena, "%s takes only one %s, and %s sets it to %s",
                                 setting_items[item].setting, setting_items[item].item,
                                 i->by[item]->key, i->item[item]),
                    "fsdpc does not support %s = %s", e->key, e->text);
    i->item[item] = value;
    i->by[item] = e;
}

/* The settings of a row's text. Values are filled in after the text is split, because they can
 * contain semicolons. */
static void set_row(Importer *i, ImportEntry *e, const char *text) {
    for (const char *at = text, *value; *at;) {
        size_t n = strcspn(at, ";");
        const char *one = fill_in(i, e, arena_strndup(i->m->arena, at, n));
        int item = item_of(one, &value);
        if (item < 0)
            set_one(i, e, one);
        else
            keep_item(i, e, item, value);
        at += n + strspn(at + n, "; ");
    }
}

/* Makes one setting of its items, of which `first` is the first; it is attributed to the last key
 * that gave one. */
static void set_from_items(Importer *i, size_t first) {
    Buf items = {0};
    const ImportEntry *by = NULL;
    for (size_t k = first; k < ARRAY_LEN(setting_items); k++) {
        if (strcmp(setting_items[k].setting, setting_items[first].setting)) break;
        const char *value = i->item[k] ? i->item[k] : setting_items[k].default_text;
        if (i->by[k] && (!by || i->by[k] > by)) by = i->by[k];
        if (value)
            buf_printf(&items, "%s%s = %s", items.n ? ", " : "", setting_items[k].item, value);
    }
    if (by)
        set_one(i, by,
                arena_printf(i->m->arena, "%s = (%s)", setting_items[first].setting, items.at));
    buf_free(&items);
}

/* ---- keys ---- */

/* Each once, separated by bars. */
static void add_values(Buf *list, const char *values) {
    for (const char *at = values; *at; at += *at == '|') {
        size_t n = strcspn(at, "|");
        bool there = n == 1 && *at == '*'; /* under another condition */
        for (const char *k = list->n ? list->at : ""; *k && !there; k += *k == '|') {
            size_t m = strcspn(k, "|");
            there = m == n && !strncmp(k, at, n);
            k += m;
        }
        if (!there) buf_printf(list, "%s%.*s", list->n ? "|" : "", (int)n, at);
        at += n;
    }
}

static void report_unknown(Importer *i, const ImportEntry *e, bool known) {
    const char *keys[512];
    size_t n = 0;
    for (uint32_t k = 0; k < IMPORT_ROWS && n < ARRAY_LEN(keys); k++)
        if (import_table[k].format == i->format && !is_prefix_pattern(import_table[k].key))
            keys[n++] = import_table[k].key;
    if (known) {
        Buf values = {0};
        for (uint32_t k = 0; k < IMPORT_ROWS; k++)
            if (import_table[k].format == i->format && pattern_names(import_table[k].key, e->key))
                add_values(&values, import_table[k].values);
        const char *help = values.n ? buf_text(i->m->arena, &values) : NULL;
        if (help)
            help = arena_printf(i->m->arena, "write one of %s%s", help,
                                strchr(help, '#') ? " (# stands for a number)" : "");
        diag_report(i->m->ds, E_import_value, e->span, help, "%s cannot be `%s`", e->key, e->text);
        return;
    }
    diag_report(i->m->ds, E_import_key, e->span, nearest_help(i->m->arena, e->key, keys, n, NULL),
                "--%s does not know the key `%s`", import_option(i->format), e->key);
}

static bool gives_number(const Importer *i, const char *key) {
    const char *value = value_at(i->in, key);
    return value && is_number(value);
}

/* What follows from it is known once the ranks are: batch_size.c. */
static void set_micro_batch(Importer *i, const ImportEntry *e) {
    double samples = strtod(e->text, NULL);
    if (!(samples >= 1 && samples <= MOST_COUNT && samples == (double)(int64_t)samples)) {
        diag_report(i->m->ds, E_import_value, e->span,
                    "write a whole number of samples, at least 1", "%s cannot be `%s`", e->key,
                    e->text);
        return;
    }
    i->m->micro_batch =
        (MicroBatch){.samples = (int64_t)samples,
                     .with_batch = gives_number(i, "train_batch_size"),
                     .with_accumulate = gives_number(i, "gradient_accumulation_steps"),
                     .key = e->key,
                     .from = model_place(i->m, e->span),
                     .span = e->span};
}

static void import_one(Importer *i, ImportEntry *e) {
    bool known;
    const ImportRow *row = find_row(i, e, &known);
    if (!row) {
        report_unknown(i, e, known);
        return;
    }
    e->became = fill_in(i, e, row->text);
    e->idle = row->action == IMPORT_IDLE;
    if (row->action == IMPORT_SETS) set_row(i, e, row->text);
    if (row->action == IMPORT_MICRO) set_micro_batch(i, e);
    if (row->action != IMPORT_REFUSES) return;
    diag_report(i->m->ds, E_import_refused, e->span, e->became, "fsdpc does not support %s = %s",
                e->key, e->text);
}

/* Lists the keys without effect, so that nothing is dropped silently. */
static void tell_idle(const Importer *i) {
    Buf keys = {0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->in->entries.n; k++)
        if (i->in->entries.at[k].idle)
            buf_printf(&keys, "%s%s", n++ ? ", " : "", i->in->entries.at[k].key);
    if (n)
        diag_report(i->m->ds, W_import_idle, (Span){0},
                    arena_printf(i->m->arena, "fsdpc dump --stage=config --%s %s says why",
                                 import_option(i->format), i->in->path),
                    "%s: %s no effect: %s", i->in->path,
                    n == 1 ? "this key has" : "these keys have", keys.at);
    buf_free(&keys);
}

void import_all(Model *m) {
    for (int f = 0; f < IMPORT_FORMATS; f++) {
        const char *path = m->options->import[f];
        ImportedFile in = {.path = path};
        if (!path || !import_read(m, (ImportFormat)f, path, &in)) continue;
        Importer i = {.m = m, .format = (ImportFormat)f, .in = &in};
        for (uint32_t k = 0; k < in.entries.n; k++) import_one(&i, &in.entries.at[k]);
        for (size_t k = 0; k < ARRAY_LEN(setting_items); k++)
            if (!k || strcmp(setting_items[k].setting, setting_items[k - 1].setting))
                set_from_items(&i, k);
        tell_idle(&i);
        vec_push(m->arena, &m->imports, in);
    }
}

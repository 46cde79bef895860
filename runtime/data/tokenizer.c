/* Text and token ids by a tokenizer.json with byte-level BPE, like GPT-2's.
 *
 * Text is split into words by GPT-2's pattern
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * after its added tokens (<|endoftext|>) were taken out. A word starts as its bytes; the pair of
 * neighbours that stands first in the list of merges becomes one token, until no pair is in the
 * list. In the file a byte is a printable character: itself if it is printable, else the next one
 * from U+0100 on.
 *
 * The class of a character (letter, digit, space, other) is known for the ranges below; a prompt
 * with other characters is refused, and so are tokenizers that split or spell differently.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "data.h"

typedef struct Merge {
    uint64_t pair; /* left id << 32 | right id; the table's key */
    int32_t rank, id;
    bool used;
} Merge;

typedef struct TokenBytes { /* the bytes of an id; NULL: there is none */
    const char *at;
    size_t n;
    bool added;
} TokenBytes;

struct Tokenizer {
    Arena *arena;
    const char *path;
    TokenBytes *piece; /* [n] by id */
    int64_t n;
    VEC(int32_t) added; /* ids of added tokens */
    int32_t byte[256];  /* ids of single bytes */
    Merge *merge;       /* [slots], open addressing */
    uint64_t slots;     /* a power of two */
};

/* ---- bytes as characters */

static bool shows_itself(unsigned byte) {
    return (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
}

/* The byte that a character of the file stands for, or -1. */
static int byte_of(uint32_t code) {
    if (code < 256) return shows_itself(code) ? (int)code : -1;
    uint32_t next = 256;
    for (unsigned byte = 0; byte < 256; byte++)
        if (!shows_itself(byte) && next++ == code) return (int)byte;
    return -1;
}

/* The bytes that a token of the file stands for; NULL if a character stands for no byte. */
static char *bytes_of(Arena *a, const char *text, size_t *n_out) {
    size_t left = strlen(text), length, n = 0;
    char *bytes = arena_alloc(a, left + 1);
    for (; left; left -= length, text += length) {
        int byte = byte_of(utf8_next(text, left, &length));
        if (byte < 0) return NULL;
        bytes[n++] = (char)byte;
    }
    *n_out = n;
    return bytes;
}

/* ---- reading the file */

static int refuse_tokenizer(const Tokenizer *t, char *error, const char *what) {
    return fail_with(
        error, EXIT_USER,
        "%s: %s\n"
        "help: only byte-level BPE like GPT-2's is supported; with others, give token ids",
        t->path, what);
}

static int report_damaged(const Tokenizer *t, char *error, const char *what) {
    return fail_with(error, EXIT_CORRUPT, "%s: not a tokenizer: %s", t->path, what);
}

static bool is_type(const json_t *object, const char *type) {
    const char *have = json_string_value(json_object_get(object, "type"));
    return have && !strcmp(have, type);
}

static bool is_empty(const json_t *value) {
    return !value || json_is_null(value) || json_is_false(value) ||
           (json_is_string(value) && !*json_string_value(value));
}

static int check_kind(const Tokenizer *t, const json_t *root, char *error) {
    static const char *const other[] = {"continuing_subword_prefix", "end_of_word_suffix",
                                        "byte_fallback", "ignore_merges", "dropout"};
    const json_t *model = json_object_get(root, "model");
    const json_t *cut = json_object_get(root, "pre_tokenizer");
    if (!json_is_object(model)) return report_damaged(t, error, "it has no `model`");
    if (!is_type(model, "BPE")) return refuse_tokenizer(t, error, "its model is not BPE");
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        if (!is_empty(json_object_get(model, other[i]))) {
            char what[80];
            snprintf(what, sizeof what, "its model has `%s`", other[i]);
            return refuse_tokenizer(t, error, what);
        }
    if (!is_empty(json_object_get(root, "normalizer")))
        return refuse_tokenizer(t, error, "it normalizes the text (normalizer)");
    const json_t *after = json_object_get(root, "post_processor");
    if (!is_empty(after) && !is_type(after, "ByteLevel"))
        return refuse_tokenizer(t, error, "it adds tokens of its own (post_processor)");
    if (!is_type(cut, "ByteLevel") || json_is_false(json_object_get(cut, "use_regex")) ||
        json_is_true(json_object_get(cut, "add_prefix_space")))
        return refuse_tokenizer(t, error,
                                "it splits text into words in an unsupported way (pre_tokenizer)");
    return 0;
}

enum { MOST_IDS = 1 << 22 };

static bool add_piece(Tokenizer *t, json_int_t id, const char *bytes, size_t n, bool added) {
    if (id < 0 || id >= t->n || !bytes || !n) return false;
    t->piece[id] = (TokenBytes){.at = bytes, .n = n, .added = added};
    if (added) vec_push(t->arena, &t->added, (int32_t)id);
    if (n == 1 && !added) t->byte[(unsigned char)*bytes] = (int32_t)id;
    return true;
}

static int read_vocabulary(Tokenizer *t, json_t *root, char *error) {
    json_t *vocabulary = json_object_get(json_object_get(root, "model"), "vocab");
    json_t *added = json_object_get(root, "added_tokens"), *entry;
    const char *key;
    size_t i, n = 0;
    if (!json_is_object(vocabulary)) return report_damaged(t, error, "it has no `vocab`");
    t->n = (int64_t)(json_object_size(vocabulary) + json_array_size(added));
    if (t->n > MOST_IDS) return report_damaged(t, error, "too many tokens");
    t->piece = arena_array(t->arena, TokenBytes, t->n + 1);
    json_array_foreach(added, i, entry) {
        const char *text = json_string_value(json_object_get(entry, "content"));
        const char *kept = text ? arena_strdup(t->arena, text) : NULL;
        if (!add_piece(t, json_integer_value(json_object_get(entry, "id")), kept,
                       kept ? strlen(kept) : 0, true))
            return report_damaged(t, error,
                                  "an added token has no text, or an id that is too large");
    }
    json_object_foreach(vocabulary, key, entry) {
        json_int_t id = json_is_integer(entry) ? json_integer_value(entry) : -1;
        if (id >= 0 && id < t->n && t->piece[id].added) continue;
        char *bytes = bytes_of(t->arena, key, &n);
        if (!add_piece(t, id, bytes, n, false))
            return report_damaged(t, error,
                                  "a token of `vocab` is not made of bytes, or its id is too "
                                  "large");
    }
    for (int byte = 0; byte < 256; byte++)
        if (t->byte[byte] < 0) return report_damaged(t, error, "`vocab` lacks some single bytes");
    return 0;
}

static Merge *find_merge(const Tokenizer *t, uint64_t pair) {
    uint64_t at = hash_bytes(&pair, sizeof pair, 0) & (t->slots - 1);
    while (t->merge[at].used && t->merge[at].pair != pair) at = (at + 1) & (t->slots - 1);
    return &t->merge[at];
}

/* "a b", or ["a", "b"] in newer files. */
static bool read_pair(Tokenizer *t, const json_t *entry, const char **left, const char **right) {
    if (json_is_array(entry)) {
        *left = json_string_value(json_array_get(entry, 0));
        *right = json_string_value(json_array_get(entry, 1));
        return *left && *right && json_array_size(entry) == 2;
    }
    const char *text = json_string_value(entry);
    const char *space = text ? strchr(text, ' ') : NULL;
    if (!space) return false;
    *left = arena_strndup(t->arena, text, (size_t)(space - text));
    *right = space + 1;
    return space != text && *space;
}

static int64_t id_of(const json_t *vocabulary, const char *text) {
    const json_t *id = json_object_get(vocabulary, text);
    return json_is_integer(id) ? json_integer_value(id) : -1;
}

static int read_merges(Tokenizer *t, json_t *model, char *error) {
    json_t *merges = json_object_get(model, "merges"),
           *vocabulary = json_object_get(model, "vocab");
    json_t *entry;
    size_t i;
    if (json_array_size(merges) > MOST_IDS) return report_damaged(t, error, "too many merges");
    for (t->slots = 16; t->slots < 2 * json_array_size(merges);) t->slots *= 2;
    t->merge = arena_array(t->arena, Merge, t->slots);
    json_array_foreach(merges, i, entry) {
        const char *left, *right;
        if (!read_pair(t, entry, &left, &right))
            return report_damaged(t, error, "an entry of `merges` is not a pair");
        int64_t a = id_of(vocabulary, left), b = id_of(vocabulary, right);
        int64_t whole = id_of(vocabulary, arena_printf(t->arena, "%s%s", left, right));
        if (a < 0 || b < 0 || whole < 0)
            return report_damaged(t, error, "`merges` has tokens that `vocab` lacks");
        Merge *m = find_merge(t, (uint64_t)a << 32 | (uint64_t)b);
        if (m->used) continue;
        *m = (Merge){(uint64_t)a << 32 | (uint64_t)b, (int32_t)i, (int32_t)whole, true};
    }
    return 0;
}

int tokenizer_open(Tokenizer **out, const char *path, char *error) {
    size_t size;
    char *text = read_file(path, &size);
    if (!text)
        return fail_with(error, EXIT_ENVIRONMENT, "cannot open %s: %s", path, strerror(errno));
    Arena *a = arena_new();
    Tokenizer *t = arena_new_of(a, Tokenizer);
    *t = (Tokenizer){.arena = a, .path = path};
    memset(t->byte, 0xff, sizeof t->byte);
    json_error_t fault;
    json_t *root = json_loadb(text, size, 0, &fault);
    free(text);
    int code = json_is_object(root)
                   ? check_kind(t, root, error)
                   : report_damaged(t, error, root ? "not a JSON object" : fault.text);
    if (!code) code = read_vocabulary(t, root, error);
    if (!code) code = read_merges(t, json_object_get(root, "model"), error);
    json_decref(root);
    if (code) arena_free(a);
    *out = code ? NULL : t;
    return code;
}

void tokenizer_close(Tokenizer *t) {
    if (t) arena_free(t->arena);
}

int64_t tokenizer_ids(const Tokenizer *t) { return t->n; }

const char *tokenizer_bytes(const Tokenizer *t, int64_t id, size_t *n) {
    *n = id >= 0 && id < t->n ? t->piece[id].n : 0;
    return *n ? t->piece[id].at : "";
}

/* ---- words */

typedef enum CharacterClass { LETTER, DIGIT, SPACE, OTHER, UNKNOWN } CharacterClass;

/* Ranges of Unicode that are of one class throughout; the first that has the character counts. */
static const struct {
    uint32_t first, last;
    CharacterClass class;
} range[] = {{'a', 'z', LETTER},       {'A', 'Z', LETTER},       {'0', '9', DIGIT},
             {9, 13, SPACE},           {' ', ' ', SPACE},        {0, 0x7f, OTHER},
             {0x85, 0x85, SPACE},      {0xa0, 0xa0, SPACE},      {0xaa, 0xaa, LETTER},
             {0xb2, 0xb3, DIGIT},      {0xb5, 0xb5, LETTER},     {0xb9, 0xb9, DIGIT},
             {0xba, 0xba, LETTER},     {0xbc, 0xbe, DIGIT},      {0xd7, 0xd7, OTHER},
             {0xf7, 0xf7, OTHER},      {0x80, 0xbf, OTHER},      {0xc0, 0x2af, LETTER},
             {0x388, 0x38a, LETTER},   {0x38e, 0x3a1, LETTER},   {0x3a3, 0x3f5, LETTER},
             {0x400, 0x481, LETTER},   {0x48a, 0x52f, LETTER},   {0x5d0, 0x5ea, LETTER},
             {0x2000, 0x200a, SPACE},  {0x2010, 0x2027, OTHER},  {0x2028, 0x2029, SPACE},
             {0x202f, 0x202f, SPACE},  {0x2030, 0x205e, OTHER},  {0x205f, 0x205f, SPACE},
             {0x20a0, 0x20c0, OTHER},  {0x2190, 0x23ff, OTHER},  {0x2500, 0x2767, OTHER},
             {0x3000, 0x3000, SPACE},  {0x3001, 0x3004, OTHER},  {0x3041, 0x3096, LETTER},
             {0x30a1, 0x30fa, LETTER}, {0x4e00, 0x9fff, LETTER}, {0xac00, 0xd7a3, LETTER},
             {0xff01, 0xff0f, OTHER},  {0x1f300, 0x1f64f, OTHER}};

static CharacterClass class_at(const char *text, size_t n, size_t *length) {
    uint32_t code = utf8_next(text, n, length);
    for (size_t i = 0; i < ARRAY_LEN(range); i++)
        if (code >= range[i].first && code <= range[i].last) return range[i].class;
    return UNKNOWN;
}

/* Bytes of characters of that class that text begins with. */
static size_t run_length(const char *text, size_t n, CharacterClass class) {
    size_t length, at = 0;
    while (at < n && class_at(text + at, n - at, &length) == class) at += length;
    return at;
}

static size_t contraction_length(const char *text, size_t n) {
    static const char *const known[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (n >= strlen(known[i]) && !memcmp(text, known[i], strlen(known[i])))
            return strlen(known[i]);
    return 0;
}

/* The length of a run of spaces without its last one. */
static size_t length_but_last(const char *text, size_t n) {
    size_t length, at = 0, last = 0;
    for (; at < n; at += length) {
        last = at;
        class_at(text + at, n - at, &length);
    }
    return last;
}

static size_t word_length(const char *text, size_t n) {
    size_t found = contraction_length(text, n), length;
    if (found) return found;
    size_t space = *text == ' ' && n > 1;
    CharacterClass class = class_at(text + space, n - space, &length);
    if (class != SPACE) return space + run_length(text + space, n - space, class);
    found = run_length(text, n, SPACE);
    size_t shorter = length_but_last(text, found);
    return found < n && shorter ? shorter : found;
}

/* The word's tokens at ids; how many. */
static int64_t merge_word(const Tokenizer *t, const char *word, size_t n, int32_t *ids) {
    for (size_t i = 0; i < n; i++) ids[i] = t->byte[(unsigned char)word[i]];
    for (int64_t left = (int64_t)n;; left--) {
        const Merge *best = NULL;
        int64_t at = 0;
        for (int64_t i = 0; i + 1 < left; i++) {
            const Merge *m = find_merge(t, (uint64_t)ids[i] << 32 | (uint64_t)ids[i + 1]);
            if (!m->used || (best && m->rank >= best->rank)) continue;
            best = m;
            at = i;
        }
        if (!best) return left;
        ids[at] = best->id;
        memmove(&ids[at + 1], &ids[at + 2], (size_t)(left - at - 2) * sizeof *ids);
    }
}

/* The id of the longest added token that text begins with, or -1. */
static int64_t added_at(const Tokenizer *t, const char *text, size_t *length) {
    int64_t found = -1;
    *length = 0;
    for (uint32_t i = 0; i < t->added.n; i++) {
        const TokenBytes *p = &t->piece[t->added.at[i]];
        if (p->n <= *length || strncmp(text, p->at, p->n)) continue;
        found = t->added.at[i];
        *length = p->n;
    }
    return found;
}

static int check_characters(const char *text, char *error) {
    for (size_t n = strlen(text), length; n; n -= length, text += length)
        if (class_at(text, n, &length) == UNKNOWN)
            return fail_with(error, EXIT_USER,
                             "--tokenizer does not know whether %.*s in the text is a letter\n"
                             "help: give the prompt as token ids, without --tokenizer",
                             (int)length, text);
    return 0;
}

int tokenizer_encode(const Tokenizer *t, const char *text, int32_t *ids, int64_t *n, char *error) {
    int code = check_characters(text, error);
    size_t length, end;
    *n = 0;
    while (*text && !code) {
        int64_t added = added_at(t, text, &length);
        if (added >= 0) {
            ids[(*n)++] = (int32_t)added;
            text += length;
            continue;
        }
        for (end = 1; text[end] && added_at(t, text + end, &length) < 0;) end++;
        for (; end; end -= length, text += length) {
            length = word_length(text, end);
            *n += merge_word(t, text, length, ids + *n);
        }
    }
    return code;
}

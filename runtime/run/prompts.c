/* The prompts of --generate and --prompts: text, or token ids, read before ranks open; the tokens
 * that end a text; and what is printed.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "data.h"
#include "generate.h"

static const char *mode_of(const Run *run) {
    return run->options->prompts ? "--prompts" : "--generate";
}

/* Place: a line of --prompts, from 1; 0: the prompt of --generate. */
__attribute__((format(printf, 4, 5))) static int refuse(const Run *run, int64_t line, char *error,
                                                        const char *format, ...) {
    int n = line ? snprintf(error, ERROR_BYTES, "--prompts: %.300s:%lld: ", run->options->prompts,
                            (long long)line)
                 : snprintf(error, ERROR_BYTES, "%s: ", mode_of(run));
    va_list args;
    va_start(args, format);
    vsnprintf(error + n, ERROR_BYTES - (size_t)n, format, args);
    va_end(args);
    return EXIT_USER;
}

/* ---- a prompt */

/* Numbers with spaces or commas between them; false: the text has something else. */
static bool read_numbers(const char *text, int32_t *ids, int64_t *n) {
    for (*n = 0; *text;) {
        char *end;
        if (*text == ',' || isspace((unsigned char)*text)) {
            text++;
            continue;
        }
        if (!isdigit((unsigned char)*text)) return false;
        ids[(*n)++] = (int32_t)MIN(strtoll(text, &end, 10), INT32_MAX);
        text = end;
    }
    return true;
}

static int read_ids(const Run *run, Prompt *p, int64_t line, char *error) {
    if (run->inputs.tokenizer)
        return tokenizer_encode(run->inputs.tokenizer, p->text, p->ids, &p->n, error);
    if (logits_reads_bytes(run->plan)) {
        for (; p->text[p->n]; p->n++) p->ids[p->n] = (unsigned char)p->text[p->n];
        return 0;
    }
    if (read_numbers(p->text, p->ids, &p->n)) return 0;
    return refuse(run, line, error,
                  "the model reads token ids: give them as numbers, such as %s, or give text and "
                  "--tokenizer FILE",
                  line ? "464 3290" : "--generate \"464 3290\"");
}

static int read_prompt(const Run *run, Prompt *p, int64_t line, int64_t below, char *error) {
    p->ids = arena_array(run->memory, int32_t, strlen(p->text) + 1);
    int code = read_ids(run, p, line, error);
    for (int64_t i = 0; i < p->n && !code; i++)
        if (p->ids[i] >= below)
            code =
                refuse(run, line, error, "token %d is out of range: the model's ids are 0 to %lld",
                       p->ids[i], (long long)below - 1);
    if (code || p->n) return code;
    return refuse(run, line, error, "the prompt must have at least one token");
}

/* train.cache: keys and values of data.length positions are kept; the last token needs none. */
static int check_length(const Run *run, const Prompt *p, int64_t line, char *error) {
    int64_t most = logits_inputs(run->plan)->type.dim[1], tokens = run->options->tokens;
    if (p->n + tokens - 1 <= most) return 0;
    return refuse(run, line, error,
                  "%lld tokens and --tokens %lld more do not fit into the cache of this plan, "
                  "which has %lld positions (data.length)\nhelp: compile with a larger "
                  "data.length, or without train.cache",
                  (long long)p->n, (long long)tokens, (long long)most);
}

/* ---- the file of --prompts */

static int read_lines(const Run *run, const char *path, char **out, char *error) {
    size_t n;
    char *text = read_file(path, &n);
    if (!text)
        return fail_with(error, EXIT_ENVIRONMENT, "--prompts: cannot read %s: %s", path,
                         strerror(errno));
    *out = arena_copy(run->memory, text, n + 1);
    free(text);
    if (strlen(*out) == n) return 0;
    return fail_with(error, EXIT_CORRUPT, "--prompts: %s: not a text file: it contains a zero byte",
                     path);
}

/* A line's end is its newline, and a carriage return before it. */
static int split_lines(const Run *run, Prompts *p, char *error) {
    char *next = p->file;
    for (const char *c = p->file; *c; c++) p->n += *c == '\n' || !c[1];
    if (!p->n)
        return refuse(run, 0, error, "%s is empty: write a prompt in each line",
                      run->options->prompts);
    p->at = arena_array(run->memory, Prompt, p->n);
    for (int64_t i = 0; i < p->n; i++) {
        char *end = strchr(p->at[i].text = next, '\n');
        if (!end) end = strchr(next, 0);
        next = *end ? end + 1 : end;
        if (end > p->at[i].text && end[-1] == '\r') end--;
        *end = 0;
    }
    return 0;
}

static int find_texts(const Run *run, Prompts *p, char *error) {
    if (run->options->prompts) {
        int code = read_lines(run, run->options->prompts, &p->file, error);
        return code ? code : split_lines(run, p, error);
    }
    p->at = arena_new_of(run->memory, Prompt);
    p->at[p->n++].text = run->options->generate;
    return 0;
}

/* ---- the end token */

static void add_end(Prompts *p, const json_t *id) {
    if (json_is_integer(id) && p->n_end < (int64_t)ARRAY_LEN(p->end))
        p->end[p->n_end++] = json_integer_value(id);
}

/* A file of the folder of --load. */
static bool read_end(Prompts *p, const char *folder, const char *file) {
    Buf path = {0};
    buf_printf(&path, "%s/%s", folder, file);
    json_t *root = json_load_file(path.at, JSON_ALLOW_NUL, NULL), *id;
    const json_t *given = json_object_get(root, "eos_token_id");
    size_t i;
    add_end(p, given);
    json_array_foreach(given, i, id) add_end(p, id);
    json_decref(root);
    buf_free(&path);
    return p->n_end > 0;
}

static void find_end(const RunOptions *o, Prompts *p) {
    if (o->end_token >= 0) p->end[p->n_end++] = o->end_token;
    if (o->end_token != END_OF_FOLDER) return;
    if (!read_end(p, o->load, "generation_config.json")) read_end(p, o->load, "config.json");
}

bool prompts_end(const Prompts *p, int64_t id) {
    for (int64_t i = 0; i < p->n_end; i++)
        if (p->end[i] == id) return true;
    return false;
}

/* ---- before ranks open */

static int open_tokenizer(Run *run, char *error) {
    if (!run->options->tokenizer) return 0;
    if (logits_reads_bytes(run->plan))
        return refuse(run, 0, error, "the model reads bytes: leave out --tokenizer");
    return tokenizer_open(&run->inputs.tokenizer, run->options->tokenizer, error);
}

int generate_check(Run *run, char *error) {
    Logits logits;
    int code = logits_check(run->plan, mode_of(run), error);
    if (!code) code = open_tokenizer(run, error);
    if (code) return code;
    Prompts *p = run->inputs.prompts = arena_new_of(run->memory, Prompts);
    logits_find(run->plan, &logits);
    int64_t below = logits_tokens(run, &logits);
    code = find_texts(run, p, error);
    for (int64_t i = 0; i < p->n && !code; i++)
        code = read_prompt(run, &p->at[i], p->file ? i + 1 : 0, below, error);
    for (int64_t i = 0; i < p->n && !code && logits.state; i++)
        code = check_length(run, &p->at[i], p->file ? i + 1 : 0, error);
    if (!code && run->options->end_token >= below)
        return refuse(run, 0, error, "--end-token %lld: the model's tokens end at %lld",
                      (long long)run->options->end_token, (long long)below - 1);
    find_end(run->options, p);
    return code;
}

uint64_t prompts_identity(const Run *run) {
    const Prompts *p = run->inputs.prompts;
    const TokenChoice *s = &run->options->sampling;
    uint64_t hash = 0;
    if (!p) return 0;
    const double number[] = {s->temperature, s->top_p, (double)s->top_k, (double)s->seed,
                             (double)run->options->tokens};
    for (int64_t i = 0; i < p->n; i++)
        hash = hash_bytes(p->at[i].ids, (size_t)p->at[i].n * sizeof *p->at[i].ids, hash);
    hash = hash_bytes(p->end, (size_t)p->n_end * sizeof *p->end, hash);
    return hash_bytes(number, sizeof number, hash);
}

/* ---- what is printed */

static int written(bool good, char *error) {
    if (good && !fflush(stdout)) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write the text to standard output");
}

int prompts_print_token(const Run *run, int32_t id, bool first, char *error) {
    size_t n = 0;
    const char *bytes = run->inputs.tokenizer ? tokenizer_bytes(run->inputs.tokenizer, id, &n) : "";
    bool good = run->inputs.tokenizer           ? fwrite(bytes, 1, n, stdout) == n
                : logits_reads_bytes(run->plan) ? putchar(id) != EOF
                                                : printf(first ? "%d" : " %d", id) > 0;
    return written(good, error);
}

static void add_bytes(const Run *run, int32_t id, Buf *out) {
    size_t n = 1;
    const char byte = (char)id;
    if (run->inputs.tokenizer)
        buf_write(out, tokenizer_bytes(run->inputs.tokenizer, id, &n), n);
    else
        buf_write(out, &byte, 1);
}

/* JSON's strings are UTF-8: bytes that are not become U+FFFD. */
static json_t *json_text(const char *text, size_t n) {
    Buf clean = {0};
    size_t length;
    for (size_t i = 0; i < n; i += length) {
        bool bad = utf8_next(text + i, n - i, &length) == UTF8_BAD && length == 1;
        if (bad)
            buf_write(&clean, "\xef\xbf\xbd", 3);
        else
            buf_write(&clean, text + i, length);
    }
    json_t *s = json_stringn(clean.n ? clean.at : "", clean.n);
    buf_free(&clean);
    return s;
}

int prompts_print_text(const Run *run, const Prompt *p, const int32_t *added, const double *cost,
                       int64_t n, bool ended, char *error) {
    Buf text = {0};
    json_t *line = json_object(), *ids = json_array(), *logs = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_array_append_new(ids, json_integer(added[i]));
        json_array_append_new(logs, json_real(-cost[i]));
        add_bytes(run, added[i], &text);
    }
    json_object_set_new(line, "prompt", json_text(p->text, strlen(p->text)));
    json_object_set_new(line, "ids", ids);
    if (run->inputs.tokenizer || logits_reads_bytes(run->plan))
        json_object_set_new(line, "text", json_text(text.n ? text.at : "", text.n));
    json_object_set_new(line, "logprobs", logs);
    json_object_set_new(line, "ended", json_boolean(ended));
    bool good =
        !json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(8)) && putchar('\n') != EOF;
    json_decref(line);
    buf_free(&text);
    return written(good, error);
}

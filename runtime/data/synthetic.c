/* Generated data: sample k depends only on (seed of the source, k), so nothing is stored or read,
 * and ranks, order and steps do not matter.
 *
 * synthetic: each sample has a class, which a field of ids holds (scaled to that field's classes).
 * A field of reals is the pattern of the class plus noise of the same size. Patterns depend on the
 * field's name and the class, not on the seed, so another seed gives other samples of the same
 * task. synthetic_tokens: a token is followed by 5 * token + 3 modulo the vocabulary, except one
 * time in eight, when any token follows.
 */
#include <string.h>

#include "data.h"
#include "random.h"

enum { NOISY = 8, PATTERNS = 16 }; /* PATTERNS: classes where no field has any */

static uint64_t key_of(const char *name, uint64_t seed) {
    return hash_bytes(name, strlen(name), seed);
}

static uint32_t word_at(uint64_t key, uint64_t a, uint64_t b) {
    uint32_t word[4];
    philox_words(key, a, b, word);
    return word[0];
}

/* A whole number from 0 to n - 1. */
static int64_t number_below(uint32_t word, int64_t n) {
    return (int64_t)(((uint64_t)word * (uint64_t)n) >> 32);
}

/* ---- opening ---- */

static int check_ids(const Dataset *d, uint64_t field, int64_t ids, char *error) {
    const FieldRange *range = &d->range[field];
    if (!range->below || ids <= range->below) return 0;
    return fail_with(
        error, EXIT_USER,
        "data.%s generates ids 0 to %lld in field %s, but the model's range is 0 to %lld", d->name,
        (long long)ids - 1, plan_string(d->plan, d->plan->fields[field].name),
        (long long)range->below - 1);
}

int synthetic_open(Dataset *d, char *error) {
    const Plan *p = d->plan;
    bool tokens = d->source->kind == SOURCE_SYNTHETIC_TOKENS;
    d->samples = d->source->samples;
    d->length = tokens ? p->settings->length : 0;
    if (d->source->corruption) {
        int code = denoising_open(d, error);
        bool first = d->denoising[0] >= 0;
        return code || !first ? code
                              : check_ids(d, (uint64_t)d->denoising[0], d->source->vocab, error);
    }
    for (uint64_t k = 0; k < d->n_field; k++) {
        const char *name = plan_string(p, p->fields[k].name);
        const PlanSourceField *f = tokens ? NULL : dataset_field(d, name);
        int64_t ids = tokens ? d->source->vocab : f ? f->classes : 0;
        d->of_field[k] = tokens ? !strcmp(name, "targets")
                         : f    ? (uint32_t)(f - p->source_fields)
                                : 0;
        bool known = tokens
                         ? (d->of_field[k] || !strcmp(name, "inputs")) && d->width[k] == d->length
                         : f != NULL;
        int want = ids ? DT_I32 : DT_F32;
        if (!known || p->fields[k].type.dtype != want) return dataset_lacks_field(d, name, error);
        int code = check_ids(d, k, ids, error);
        if (code) return code;
    }
    return 0;
}

/* ---- reading ---- */

typedef struct TokenWalk { /* over the tokens of a sample */
    uint64_t key;
    int64_t k, i, vocab, token;
} TokenWalk;

static TokenWalk walk_begin(const Dataset *d, int64_t k) {
    TokenWalk w = {.key = key_of("tokens", d->source->seed), .k = k, .vocab = d->source->vocab};
    w.token = number_below(word_at(w.key, (uint64_t)k, 0), w.vocab);
    return w;
}

static void walk_on(TokenWalk *w) {
    uint32_t word = word_at(w->key, (uint64_t)w->k, (uint64_t)++w->i);
    w->token = word % NOISY ? (5 * w->token + 3) % w->vocab : number_below(word, w->vocab);
}

static void read_tokens(const Dataset *d, int64_t k, uint64_t field, int32_t *to) {
    for (TokenWalk w = walk_begin(d, k); w.i <= d->length; walk_on(&w)) {
        int64_t place = w.i - d->of_field[field]; /* targets are one further */
        if (place >= 0 && place < d->length) to[place] = (int32_t)w.token;
    }
}

/* How many classes the samples fall into: those of the source's first field of ids. */
static int64_t pattern_count(const Dataset *d) {
    for (uint32_t i = 0; i < d->source->n_field; i++) {
        int64_t n = d->plan->source_fields[d->source->first_field + i].classes;
        if (n) return n;
    }
    return PATTERNS;
}

static void read_reals(const Dataset *d, int64_t k, uint64_t field, uint32_t class_word,
                       float *to) {
    const char *name = plan_string(d->plan, d->plan->fields[field].name);
    uint64_t class = (uint64_t)number_below(class_word, pattern_count(d));
    uint64_t pattern = key_of(name, 0);
    uint64_t noise = key_of(name, d->source->seed) ^ UINT32_MAX; /* of seed 0 they were the same */
    for (uint32_t e = 0; e < d->width[field]; e++) {
        double x = 2 * philox_uniform(word_at(pattern, class, e)) - 1;
        double y = 2 * philox_uniform(word_at(noise, (uint64_t)k, e)) - 1;
        to[e] = (float)(x + y);
    }
}

void synthetic_read(const Dataset *d, SampleAt at, int64_t row, uint8_t *slot) {
    const Plan *p = d->plan;
    int64_t k = at.k;
    if (d->source->corruption) {
        DenoisingSample c;
        denoising_begin(&c, d, at, row, slot);
        for (TokenWalk w = walk_begin(d, k); w.i < d->length; walk_on(&w))
            denoising_add(&c, (int32_t)w.token);
        return;
    }
    uint32_t class_word = word_at(key_of("class", d->source->seed), (uint64_t)k, 0);
    for (uint64_t i = 0; i < d->n_field; i++) {
        uint8_t *to = slot + p->fields[i].staging + (uint64_t)row * d->width[i] * 4;
        if (d->source->kind == SOURCE_SYNTHETIC_TOKENS) {
            read_tokens(d, k, i, (int32_t *)(void *)to);
        } else if (p->fields[i].type.dtype == DT_F32) {
            read_reals(d, k, i, class_word, (float *)(void *)to);
        } else {
            int64_t classes = p->source_fields[d->of_field[i]].classes;
            *(int32_t *)(void *)to = (int32_t)number_below(class_word, classes);
        }
    }
}

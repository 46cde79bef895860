/* Samples of tokens for models that fill in missing ones (mlm, span_corruption).
 *
 * A sample takes its raw tokens one after the other and writes the fields of the batch as it goes.
 * The choices depend on the seed and on the number of samples before this one, counted through
 * epochs, by permutations that are computed element by element (shuffle.c): each epoch draws anew,
 * with the same result for any number of ranks.
 *
 * mlm: position i is chosen if its rank in a permutation of the positions is below `noise`. Fields
 * inputs, segments (0), mask (1), labels (the token, or -100 where it was not chosen).
 *
 * span_corruption: kept tokens and noise are each cut into `spans` pieces, at positions chosen in
 * the same way, and the pieces alternate, kept tokens first. Field source: the kept tokens, a mark
 * after each piece, the end. labels: each span after its mark, the end. target: 0, then the labels
 * without the last one. Mark k has the id mask - k.
 */
#include <string.h>

#include "data.h"
#include "random.h"

enum { IGNORED = -100, CHOSEN_OF = 10, MASKED = 8, REPLACED = 9 };

static uint64_t key_of(const Dataset *d, const char *what) {
    return hash_bytes(what, strlen(what), d->source->draw);
}

static bool spans_of(const Dataset *d) { return d->source->corruption == CORRUPTION_SPANS; }

/* ---- opening ---- */

static int64_t random_below(const Dataset *d) {
    if (d->source->words) return d->source->words;
    int64_t below = d->range[d->denoising[0]].below;
    return below ? below : d->source->vocab;
}

static int open_field(Dataset *d, uint64_t k, char *error) {
    static const char *const masked[] = {"inputs", "segments", "mask", "labels"};
    static const char *const spans[] = {"source", "target", "labels"};
    const PlanSource *s = d->source;
    const PlanField *f = &d->plan->fields[k];
    const char *name = plan_string(d->plan, f->name);
    uint32_t which = 0, n = spans_of(d) ? 3 : 4;
    while (which < n && strcmp(name, spans_of(d) ? spans[which] : masked[which])) which++;
    int64_t width = !spans_of(d) ? s->raw
                    : which      ? s->noise + s->spans + 1
                                 : s->raw - s->noise + s->spans + 1;
    if (which == n || f->type.dtype != DT_I32 || d->width[k] != width)
        return dataset_lacks_field(d, name, error);
    d->of_field[k] = which;
    d->denoising[which] = (int64_t)k;
    return 0;
}

/* The ids that the source itself writes; those of its tokens are checked one by one. */
static int check_own_ids(const Dataset *d, char *error) {
    const PlanSource *s = d->source;
    if (d->denoising[0] < 0) return 0;
    const FieldRange *range = &d->range[d->denoising[0]];
    int64_t most = MAX(s->mask, spans_of(d) ? s->end : s->words - 1);
    if (!range->below || most < range->below) return 0;
    return fail_with(error, EXIT_USER,
                     "data.%s writes id %lld into field %s, but the model's range is 0 to %lld",
                     d->name, (long long)most,
                     plan_string(d->plan, d->plan->fields[d->denoising[0]].name),
                     (long long)range->below - 1);
}

int denoising_open(Dataset *d, char *error) {
    d->length = d->source->raw;
    for (int k = 0; k < DENOISING_FIELDS; k++) d->denoising[k] = -1;
    for (uint64_t k = 0; k < d->n_field; k++) {
        int code = open_field(d, k, error);
        if (code) return code;
    }
    int code = check_own_ids(d, error);
    if (code || spans_of(d) || random_below(d) > 0) return code;
    return fail_with(error, EXIT_USER, "data.%s: the range of ids is unknown: give mlm a vocab",
                     d->name);
}

/* ---- reading ---- */

void denoising_begin(DenoisingSample *c, const Dataset *d, SampleAt at, int64_t row,
                     uint8_t *slot) {
    *c = (DenoisingSample){.d = d, .draw = at.epoch * d->samples + at.k};
    for (int which = 0; which < DENOISING_FIELDS; which++) {
        int64_t field = d->denoising[which];
        if (field < 0) continue;
        c->to[which] = (int32_t *)(void *)(slot + d->plan->fields[field].staging) +
                       row * (int64_t)d->width[field];
    }
}

static void put_id(DenoisingSample *c, int which, int64_t at, int64_t id) {
    if (c->to[which]) c->to[which][at] = (int32_t)id;
}

static void add_masked(DenoisingSample *c, int32_t token) {
    const PlanSource *s = c->d->source;
    int64_t i = c->taken;
    bool chosen = shuffled(i, s->raw, key_of(c->d, "chosen"), (uint64_t)c->draw) < s->noise;
    uint32_t word[4];
    philox_words(key_of(c->d, "mask"), (uint64_t)c->draw, (uint32_t)i, word);
    int64_t turn = (int64_t)(((uint64_t)word[0] * CHOSEN_OF) >> 32), id = token;
    if (chosen && turn < MASKED) id = s->mask;
    if (chosen && turn >= MASKED && turn < REPLACED)
        id = (int64_t)(((uint64_t)word[1] * (uint64_t)random_below(c->d)) >> 32);
    put_id(c, 0, i, id);
    put_id(c, 1, i, 0);
    put_id(c, 2, i, 1);
    put_id(c, 3, i, chosen ? token : IGNORED);
}

static void put_label(DenoisingSample *c, int64_t id) {
    put_id(c, 2, c->labels, id);
    if (c->labels == 0) put_id(c, 1, 0, 0);
    if (c->labels < c->d->source->noise + c->d->source->spans) put_id(c, 1, c->labels + 1, id);
    c->labels++;
}

/* Does a piece end after the first `at` of n tokens? */
static bool piece_ends(const DenoisingSample *c, const char *what, int64_t at, int64_t n) {
    return at == n ||
           shuffled(at - 1, n - 1, key_of(c->d, what), (uint64_t)c->draw) < c->d->source->spans - 1;
}

static void add_span(DenoisingSample *c, int32_t token) {
    const PlanSource *s = c->d->source;
    if (c->inside) {
        put_label(c, token);
        if (piece_ends(c, "noise", ++c->noise, s->noise)) {
            c->inside = false;
            c->span++;
        }
    } else {
        put_id(c, 0, c->source++, token);
        if (piece_ends(c, "kept", ++c->kept, s->raw - s->noise)) {
            put_id(c, 0, c->source++, s->mask - c->span);
            put_label(c, s->mask - c->span);
            c->inside = true;
        }
    }
    if (c->taken + 1 < s->raw) return;
    put_id(c, 0, c->source, s->end);
    put_label(c, s->end);
}

void denoising_add(DenoisingSample *c, int32_t token) {
    if (c->taken >= c->d->source->raw) return;
    if (spans_of(c->d))
        add_span(c, token);
    else
        add_masked(c, token);
    c->taken++;
}

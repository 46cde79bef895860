/* Which token comes next, by the logits of a row. In: the logits of ids that can be chosen. Ranks
 * that share out the ids choose together, and all of them learn the token.
 *
 * Temperature 0 takes the likeliest token, the first of several. Else token i has the chance
 * exp(logit i / temperature), unless top_k or top_p leaves it out, and the random number is Philox
 * of the seed, the token's number and the text's. What is left out lies below a limit: the largest
 * one above which there are still enough tokens, or chances. So tokens that are equally likely are
 * all in or all out, and ranks need to exchange only how much each has above a limit.
 *
 * Sums are in the order of the parts and, within them, of the ids. Chances are not negative, so
 * that such a sum does not grow as the limit does, rounding included.
 */
#include <math.h>
#include <string.h>

#include "generate.h"
#include "random.h"

/* A number in [0, 1) for the token of that number. */
static double random_number(uint64_t seed, uint64_t text, uint64_t token) {
    uint32_t word[4];
    philox_words(seed, token, text, word);
    return (double)((uint64_t)word[0] << 21 ^ word[1] >> 11) * 0x1p-53;
}

/* A word that is larger for a larger number; 0 is less than that of any. */
static uint32_t ordered_word(double of) {
    uint32_t bits;
    float x = (float)of;
    if (isnan(of)) return 0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 1u << 31;
}

static double of_ordered_word(uint32_t word) {
    uint32_t bits = word >> 31 ? word & ~(1u << 31) : ~word;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static int agree(const Candidates *c, uint64_t mine, uint64_t *out) {
    *out = mine;
    return c->parts > 1 ? rank_agree(c->rank, mine, out) : 0;
}

/* Adds up a number of each part; below: of the parts before this one. */
static int add_up(const Candidates *c, double mine, double *below, double *sum) {
    int code = 0;
    *sum = *below = 0;
    for (int64_t k = 0; k < c->parts && !code; k++) {
        uint64_t word; /* words of numbers that are not negative are ordered */
        double of_part;
        memcpy(&word, &mine, sizeof word);
        code = agree(c, k == c->part && c->n ? word : 0, &word);
        memcpy(&of_part, &word, sizeof of_part);
        if (k == c->part) *below = *sum;
        *sum += of_part;
    }
    return code;
}

/* What the tokens have whose words are at least `limit`: their number, or their chances. */
static int measure(const Candidates *c, uint32_t limit, bool chances, double *sum) {
    double mine = 0, below;
    for (int64_t i = 0; i < c->n; i++)
        if (ordered_word(c->logit[i]) >= limit) mine += chances ? c->chance[i] : 1;
    return add_up(c, mine, &below, sum);
}

/* Leaves out tokens below the largest limit at which the others have as much as wanted. */
static int leave_out(const Candidates *c, uint32_t most, bool chances, double wanted) {
    uint32_t low = 1, high = most;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        double sum;
        int code = measure(c, middle, chances, &sum);
        if (code) return code;
        if (sum >= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    for (int64_t i = 0; i < c->n; i++)
        if (ordered_word(c->logit[i]) < low) c->chance[i] = 0;
    return 0;
}

static int sum_chances(const Candidates *c, double *below, double *own, double *all) {
    *own = 0;
    for (int64_t i = 0; i < c->n; i++) *own += c->chance[i];
    return add_up(c, *own, below, all);
}

static int find_chances(const Candidates *c, const TokenChoice *s, uint32_t most) {
    double largest = of_ordered_word(most), below, own, all;
    int code = 0;
    for (int64_t i = 0; i < c->n; i++)
        c->chance[i] = isnan(c->logit[i]) ? 0 : exp((c->logit[i] - largest) / s->temperature);
    if (s->top_k) code = leave_out(c, most, false, (double)s->top_k);
    if (code || s->top_p >= 1) return code;
    code = sum_chances(c, &below, &own, &all);
    return code ? code : leave_out(c, most, true, s->top_p * all);
}

/* The token at which the chances, added up, exceed the random share of all; 0 where rounding leaves
 * none, else its id + 1. */
static int draw(const Candidates *c, double share, uint64_t *found) {
    double below, own, all;
    uint64_t mine = 0;
    int code = sum_chances(c, &below, &own, &all);
    double left = share * all;
    bool passed = left < below;
    left -= below;
    for (int64_t i = 0; i < c->n && !passed && !mine && left < own; i++) {
        left -= c->chance[i];
        if (left < 0) mine = (uint64_t)(c->from + i) + 1;
    }
    return code ? code : agree(c, mine, found);
}

/* The likeliest token as a word, of tokens that are as likely the first one; 0: none. */
static int find_best(const Candidates *c, uint64_t *best) {
    uint64_t mine = 0;
    for (int64_t i = 0; i < c->n; i++)
        if (!isnan(c->logit[i]))
            mine = MAX(mine, (uint64_t)ordered_word(c->logit[i]) << 32 |
                                 (UINT32_MAX - (uint32_t)(c->from + i)));
    return agree(c, mine, best);
}

int sample_token(const Candidates *c, const TokenChoice *s, uint64_t text, uint64_t token,
                 int64_t *id) {
    uint64_t best, found;
    int code = find_best(c, &best);
    *id = best ? (int64_t)(UINT32_MAX - (uint32_t)best) : -1;
    if (code || !best || s->temperature == 0) return code;
    code = find_chances(c, s, (uint32_t)(best >> 32));
    if (!code) code = draw(c, random_number(s->seed, text, token), &found);
    if (!code && found) *id = (int64_t)found - 1;
    return code;
}

int token_cost(const Candidates *c, int64_t id, double *cost) {
    uint64_t best;
    double own = 0, below, sum, all;
    int code = find_best(c, &best);
    double largest = of_ordered_word((uint32_t)(best >> 32));
    for (int64_t i = 0; i < c->n; i++) own += isnan(c->logit[i]) ? 0 : exp(c->logit[i] - largest);
    if (!code) code = add_up(c, own, &below, &all);
    bool mine = id >= c->from && id < c->from + c->n;
    if (!code) code = add_up(c, mine ? largest - c->logit[id - c->from] : 0, &below, &sum);
    *cost = code ? 0 : sum + log(all);
    return code;
}

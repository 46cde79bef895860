/* How many: the most samples of a micro-batch on a rank, the longest samples, the fewest ranks.
 *
 * Memory grows with samples and their length and falls with ranks, but not always: addresses are
 * placed by a rule of thumb, so one sample more may need a few bytes less. So the border between
 * what fits and what does not is found by doubling and halving, and then the next WINDOW values
 * behind it are compiled too, as often as one of them fits.
 *
 * A value that does not compile says nothing about memory: the values after it are asked, up to
 * WINDOW; only if none of them compiles it counts as one that does not fit.
 */
#include "fit.h"

enum { WINDOW = 16 };
static const int64_t no_limit = (int64_t)1 << 40; /* but that of the compiler */

typedef struct Search {
    Fit *fit;
    FitOptions (*options)(const struct Search *s, int64_t x);
    int64_t top;   /* values are 1 to top */
    int64_t grain; /* multiples of it are alike: ranks share out dimensions that it divides */
    bool most;     /* the largest value is looked for, not the smallest */
    FitAnswer best;
} Search;

static FitTrial attempt(Search *s, int64_t x) {
    FitOptions o = s->options(s, x);
    FitTrial t = fit_try(s->fit, &o, NULL);
    bool better = !s->best.value || (s->most ? x > s->best.value : x < s->best.value);
    if (t.fits && better) s->best = (FitAnswer){true, x, o, t};
    return t;
}

static bool suits(Search *s, int64_t x, int64_t end) {
    FitTrial t = attempt(s, x);
    for (int64_t k = 1; !t.compiles && k <= WINDOW && x + k < end; k++) t = attempt(s, x + k);
    return t.fits;
}

static int64_t to_grain(const Search *s, int64_t x, int64_t low, int64_t high) {
    int64_t coarse = x / s->grain * s->grain;
    return coarse > low && coarse < high ? coarse : x;
}

/* Doubles or halves from `start` until the answer changes, then bisects. */
static void find_border(Search *s, int64_t start) {
    bool first = suits(s, start, s->top + 1), up = first == s->most;
    int64_t last = start, x = start;
    do {
        last = x;
        x = up ? x * 2 : to_grain(s, x / 2, 0, x);
    } while (x >= 1 && x <= s->top && suits(s, x, s->top + 1) == first);
    int64_t low = MIN(last, x), high = MIN(MAX(last, x), s->top + 1);
    bool low_suits = s->most;
    while (high - low > 1) {
        int64_t middle = to_grain(s, low + (high - low) / 2, low, high);
        *(suits(s, middle, high) == low_suits ? &low : &high) = middle;
    }
}

static FitAnswer search(Search *s, int64_t start) {
    s->best = (FitAnswer){.asked = true};
    find_border(s, start);
    int64_t step = s->most ? 1 : -1, from = s->best.value;
    for (int64_t k = 1; s->best.value && k <= WINDOW; k++) {
        int64_t x = from + k * step;
        if (x < 1 || x > s->top) break;
        attempt(s, x);
        if (s->best.value == x) from = x, k = 0;
    }
    return s->best;
}

/* ---- the questions */

static FitOptions with_samples(const Search *s, int64_t k) {
    FitOptions o = {.n = 0};
    fit_add_batch(s->fit, &o, &s->fit->axes, k);
    return o;
}

static FitOptions with_length(const Search *s, int64_t length) {
    const char *set = arena_printf(s->fit->arena, "data.length=%lld", (long long)length);
    return (FitOptions){.set = {set}, .n = 1};
}

/* x: the size of the axis of shards. */
static FitOptions with_shards(const Search *s, int64_t x) {
    Mesh mesh = s->fit->axes;
    fit_set_axis(&mesh, AXIS_dp, x);
    FitOptions o = {.mesh = fit_mesh_text(&mesh, s->fit->arena)};
    fit_add_batch(s->fit, &o, &mesh, s->fit->base->settings.local_batch);
    return o;
}

FitAnswer fit_most_samples(Fit *fit) {
    Search s = {fit, with_samples, no_limit, 1, true, {0}};
    return search(&s, fit->base->settings.local_batch);
}

FitAnswer fit_most_length(Fit *fit) {
    int64_t grain = mesh_extent(&fit->axes, mesh_cut_axes(&fit->axes));
    Search s = {fit, with_length, no_limit, grain, true, {0}};
    int64_t length = fit->base->settings.length;
    return length ? search(&s, length) : (FitAnswer){0};
}

FitAnswer fit_least_ranks(Fit *fit) {
    Mesh mesh = fit->axes;
    fit_set_axis(&mesh, AXIS_dp, 1);
    int64_t others = mesh_ranks(&mesh);
    Search s = {fit, with_shards, ((int64_t)1 << 20) / others, 1, false, {0}};
    FitAnswer r = search(&s, fit->ranks / others);
    r.value *= others;
    return r;
}

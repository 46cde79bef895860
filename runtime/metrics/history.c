/* The history of the loss in one line: each column is the mean of equally many steps. When all
 * columns are taken, each pair becomes one, so a run of any length has between half of the columns
 * and all of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "progress.h"

void history_add(History *h, double loss) {
    if (h->n == HISTORY_COLUMNS && h->steps == h->each) {
        for (int i = 0; i < HISTORY_COLUMNS / 2; i++) {
            h->sum[i] = h->sum[2 * i] + h->sum[2 * i + 1];
            h->finite[i] = h->finite[2 * i] + h->finite[2 * i + 1];
        }
        h->n = HISTORY_COLUMNS / 2;
        h->each *= 2;
        h->steps = h->each;
    }
    if (h->n == 0 || h->steps == h->each) {
        h->steps = 0;
        h->sum[h->n] = 0;
        h->finite[h->n++] = 0;
        h->each = MAX(h->each, 1);
    }
    h->steps++;
    if (!isfinite(loss)) return;
    h->sum[h->n - 1] += loss;
    h->finite[h->n - 1]++;
}

static double column_mean(const History *h, int column) {
    return h->finite[column] ? h->sum[column] / (double)h->finite[column] : NAN;
}

/* Whether a terminal of these settings shows characters beyond ASCII. */
static bool shows_unicode(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *text = getenv(variables[i]);
        if (text && *text) return strcasestr(text, "utf-8") || strcasestr(text, "utf8");
    }
    return false;
}

bool history_text(const History *h, char *out, size_t size) {
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const marks[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *level = shows_unicode() ? blocks : marks;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < h->n; i++) {
        if (!h->finite[i]) continue;
        least = fmin(least, column_mean(h, i));
        most = fmax(most, column_mean(h, i));
    }
    *out = 0;
    if (h->n < 2 || least > most) return false;
    for (int i = 0; i < h->n; i++) {
        double x = most > least ? (column_mean(h, i) - least) / (most - least) : 0;
        const char *mark = h->finite[i] ? level[MIN((int)(x * 8), 7)] : "?";
        size_t n = strlen(out);
        snprintf(out + n, size - n, "%s", mark);
    }
    size_t n = strlen(out);
    snprintf(out + n, size - n, "  %s %.4g  %s %.4g", level[0], least, level[7], most);
    return true;
}

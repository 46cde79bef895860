/* Finds the segments of a program that repeat earlier ones: consecutive layers that do the same.
 *
 * Two segments are equal if their rows show the same text, where layer numbers are taken relative
 * to the segment's own layer: h.3 in a row of h.2 equals h.4 in a row of h.3. Live bytes may
 * differ. A run of repeated blocks of up to PERIOD_MOST segments (local, global, local, global) is
 * folded into its first block. Segments are compared by the hash of their rows, so the work is
 * linear.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

enum { PERIOD_MOST = 4 };

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Appends text. A layer of the same array as the segment (`stem` "h.") is replaced by its distance
 * from the segment's layer. */
static void put_relative(Buf *out, const char *text, const char *stem, long number) {
    size_t n = strlen(stem);
    for (const char *at = text; *at;) {
        bool begins = at == text || !in_word(at[-1]);
        if (begins && n && !strncmp(at, stem, n) && isdigit((unsigned char)at[n])) {
            char *end;
            long layer = strtol(at + n, &end, 10);
            buf_printf(out, "%s<%ld>", stem, layer - number);
            at = end;
        } else {
            buf_write(out, at++, 1);
        }
    }
}

static uint64_t hash_of(const View *v, const ViewRows *r, const ViewSegment *s) {
    Buf out = {0};
    const char *dot = strrchr(s->layer, '.');
    const char *digits = dot ? dot + 1 : s->layer;
    const char *stem = arena_strndup(v->a, s->layer, (size_t)(digits - s->layer));
    long number = strtol(digits, NULL, 10);
    buf_printf(&out, "%s %d\n", stem, s->phase);
    for (uint32_t i = s->first; i < s->first + s->n; i++) {
        const ViewRow *row = &r->rows.at[i];
        const PlanInstr *in = &v->p->instrs[row->instr];
        put_relative(&out, row->text, stem, number);
        if (row->formula) put_relative(&out, row->formula, stem, number);
        buf_printf(&out, " %s [%d]", row->made, in->stream);
        for (int k = 0; k < STREAM_KINDS; k++)
            if (row->awaited[k]) {
                const PlanInstr *to = &v->p->instrs[row->awaited[k] - 1];
                buf_printf(&out, " %d %s ", k, op_info[to->op].name);
                put_relative(&out, plan_string(v->p, to->path), stem, number);
            }
        buf_printf(&out, "\n");
    }
    uint64_t hash = hash_bytes(out.at, out.n, 0);
    buf_free(&out);
    return hash;
}

/* How many segments from `at` on repeat the block of `period` segments before them. */
static uint32_t count_repeats(const ViewRows *r, uint32_t at, uint32_t period) {
    uint32_t n = 0;
    for (uint32_t k = at + period; k < r->segments.n; k++, n++) {
        const ViewSegment *a = &r->segments.at[k], *b = &r->segments.at[at + (k - at) % period];
        if (!*a->layer || a->hash != b->hash) break;
    }
    return n / period * period;
}

void view_fold(const View *v, ViewRows *r) {
    for (uint32_t i = 0; i < r->segments.n; i++)
        r->segments.at[i].hash = hash_of(v, r, &r->segments.at[i]);
    for (uint32_t i = 0; i < r->segments.n;) {
        uint32_t best = 0, period = 1;
        for (uint32_t p = 1; p <= PERIOD_MOST; p++) {
            uint32_t n = *r->segments.at[i].layer ? count_repeats(r, i, p) : 0;
            if (n > best) {
                best = n;
                period = p;
            }
        }
        for (uint32_t k = 0; k < best; k++) r->segments.at[i + period + k].like = i + k % period;
        i += best ? best + period : 1;
    }
}

/* Which op made the first number that is not finite: a step that ended in one runs again, and after
 * each instruction its results are looked at. In: an open rank and the calls of that step. Out: a
 * sentence, the same on all ranks. A step that needs no such answer pays nothing for it.
 *
 * Ranks may find different ops first. The earliest counts, by the number of the call, then by the
 * number of the instruction. Weights that were not finite before the step come before all ops.
 */
#include <stdio.h>
#include <stdlib.h>

#include "prepared.h"

/* A finding as a number, of which ranks agree on the least: from the top, one bit for an op, its
 * call, the instruction or state, the rank, one bit for a nan. */
enum { RANK_BITS = 13, AT_SHIFT = 1 + RANK_BITS, CALL_SHIFT = AT_SHIFT + 32, CALL_BITS = 16 };
static const uint64_t OF_OP = (uint64_t)1 << 62;

typedef enum Lost { LOST_NOTHING, LOST_INFINITE, LOST_NAN } Lost;

static Lost worse(Lost a, Lost b) { return a > b ? a : b; }

/* Of numbers of that many bits, the upper ones of which, without the sign, are `full` in what is
 * not finite. */
#define LOOK(type, full)                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        type bits = (type)(((const type *)at)[i] & (type)((type) ~(type)0 >> 1));                  \
        if (bits >= (full)) lost = worse(lost, bits > (full) ? LOST_NAN : LOST_INFINITE);          \
    }

static Lost look_at(const char *at, int dtype, int64_t n) {
    Lost lost = LOST_NOTHING;
    switch (dtype) {
    case DT_F32: LOOK(uint32_t, 0x7f800000u) break;
    case DT_BF16: LOOK(uint16_t, 0x7f80u) break;
    case DT_F16: LOOK(uint16_t, 0x7c00u) break;
    case DT_F64: LOOK(uint64_t, (uint64_t)0x7ff0 << 48) break;
    }
    return lost;
}

enum { PIECE_BYTES = 1 << 16 };

static int look_at_row(FiniteWatch *w, const char *at, int dtype, int64_t n, Lost *lost) {
    int64_t width = dtype_bytes(dtype);
    for (int64_t done = 0; done < n; done += PIECE_BYTES / width) {
        int64_t some = MIN(n - done, PIECE_BYTES / width);
        int code = rank_copy_out(w->rank, w->piece, at + done * width, (uint64_t)(some * width));
        if (code) return code;
        *lost = worse(*lost, look_at(w->piece, dtype, some));
    }
    return 0;
}

/* Exact sums count what was not finite; of other integers none is lost. */
static int look_at_words(FiniteWatch *w, const char *at, const Type *t, Lost *lost) {
    int64_t n = type_elements(t), words[EXACT_WORDS];
    if (n != EXACT_WORDS && !are_average_words(n)) return 0;
    int code = rank_copy_out(w->rank, words, at, sizeof words);
    if (!code && words[EXACT_NONFINITE]) *lost = LOST_NAN;
    return code;
}

/* If there is a pitch, rows lie apart, and the bytes between them are not numbers. */
static int look_at_value(FiniteWatch *w, const char *at, const Type *t, Lost *lost) {
    bool real = t->dtype == DT_F32 || t->dtype == DT_BF16 || t->dtype == DT_F16;
    if (t->dtype == DT_I64) return look_at_words(w, at, t, lost);
    if (!real && t->dtype != DT_F64) return 0;
    int64_t width = last_dim(t), rows = t->pitch && width ? type_elements(t) / width : 1;
    int64_t n = t->pitch ? width : type_elements(t), apart = type_pitch(t) * dtype_bytes(t->dtype);
    int code = 0;
    for (int64_t row = 0; row < rows && !code; row++)
        code = look_at_row(w, at + row * apart, t->dtype, n, lost);
    return code;
}

static void note(FiniteWatch *w, uint64_t key, Lost lost) {
    if (!lost) return;
    key |= (uint64_t)w->rank->rank % (1u << RANK_BITS) << 1 | (lost == LOST_NAN);
    w->first = MIN(w->first, key);
}

static int look_at_results(void *of, uint32_t k, char *error) {
    FiniteWatch *w = of;
    const Plan *p = w->rank->run->plan;
    const PlanInstr *in = &p->instrs[k];
    int code = 0;
    Lost lost = LOST_NOTHING;
    if (w->first < UINT64_MAX || in->op == OP_step_scale) return 0;
    for (uint32_t j = 0; j < in->n_out && !code; j++)
        if (instruction_touches(p, k, j, true))
            code = look_at_value(w, instruction_value(w->rank, in->first_out + j),
                                 &p->values[in->first_out + j].type, &lost);
    if (code && error != w->rank->error) snprintf(error, ERROR_BYTES, "%s", w->rank->error);
    uint64_t call = w->call % (1u << CALL_BITS);
    note(w, OF_OP | call << CALL_SHIFT | (uint64_t)k << AT_SHIFT, lost);
    return code;
}

/* The rank's weights, as they were before the step and still are. */
static int look_at_weights(FiniteWatch *w) {
    const Plan *p = w->rank->run->plan;
    int code = 0;
    for (uint64_t i = 0; i < p->n_states && !code; i++) {
        Lost lost = LOST_NOTHING;
        if (p->states[i].role != STATE_PARAM || !rank_has_state(w->rank, &p->states[i])) continue;
        code = look_at_value(w, rank_at(w->rank, p->states[i].address), &p->states[i].type, &lost);
        note(w, i << AT_SHIFT, lost);
    }
    return code;
}

int finite_watch_open(Rank *r, FiniteWatch *w) {
    *w = (FiniteWatch){.rank = r, .first = UINT64_MAX, .piece = malloc(PIECE_BYTES)};
    if (!w->piece)
        return fail_with(r->error, EXIT_ENVIRONMENT,
                         "no memory to look for the first op that is not finite");
    w->before = r->hooks;
    r->hooks = (TestHooks){.of = w, .after = look_at_results};
    return look_at_weights(w);
}

void finite_watch_close(FiniteWatch *w) {
    w->rank->hooks = w->before;
    free(w->piece);
}

int finite_watch_agree(FiniteWatch *w, char *text, size_t size) {
    const Plan *p = w->rank->run->plan;
    uint64_t least = 0;
    char where[256], who[64] = "";
    int code = rank_agree(w->rank, ~w->first, &least);
    least = ~least;
    *text = 0;
    if (code || least == UINT64_MAX) return code;
    uint32_t at = (uint32_t)(least >> AT_SHIFT);
    const char *what = least & 1 ? "nan" : "inf";
    if (w->rank->run->launch.ranks > 1)
        snprintf(who, sizeof who, ", on rank %d", (int)(least >> 1 & ((1u << RANK_BITS) - 1)));
    if (least & OF_OP) {
        plan_instr_text(p, at, where, sizeof where);
        snprintf(text, size, "the first result that is not finite (%s) is that of %s%s", what,
                 where, who);
    } else {
        snprintf(text, size, "%s were not finite (%s) before this step%s",
                 plan_string(p, p->states[at].name), what, who);
    }
    return 0;
}

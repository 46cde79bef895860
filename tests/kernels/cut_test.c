/* Runs every op as a whole and on the parts of 2 and 3 ranks, on the cpu device: columns CUT,
 * CUT_BY and LINEAR of ops.def say what the results are then. Each word of the columns is also
 * replaced by every other word, and each letter that they leave out gets one: these must turn out
 * to be wrong, or are listed with the reason why they are left out.
 *
 * cut_test MODULE.so runs on that device, and only cuts in 2 whose kernels must know where their
 * part begins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cut_column.h"
#include "kernels/cut_run.h"
#include "kernels/launch.h"
#include "parts.h"

enum { RANKS_MOST = 3, MOST_ELEMENTS = 1 << 15 };

/* A module may be an emulated GPU, which takes its time. */
static int most_ranks(void) { return launch_module ? 2 : RANKS_MOST; }

static bool has_columns(OpKind op) {
    if (!is_wanted(op_info[op].name)) return false;
    return cut_column(op)->n || cut_column(op)->rule || op_parts(op)->n || op == OP_fused;
}

/* ---- all cases of an op; `also`: see case_with_sizes */

typedef struct CaseWalk {
    OpKind op;
    char also;
    int next;
} CaseWalk;

/* Cases with fewer elements say as much. */
static bool is_small(const Case *c) {
    int64_t n = 0;
    for (int i = 0; i < c->n_in; i++) n += type_elements(&c->in[i].type);
    for (int j = 0; j < c->n_out; j++) n += type_elements(&c->out[j]);
    return n <= MOST_ELEMENTS;
}

/* Opens the next one; false: there is no more. */
static bool next_case(CaseWalk *walk, Whole *w) {
    while (walk->next < n_cases + n_layout_cases) {
        int k = walk->next++;
        const Case *from = k < n_cases ? &cases[k] : &layout_cases[k - n_cases];
        if (from->op != walk->op) continue;
        w->c = case_with_sizes(from, walk->also);
        if (is_small(&w->c) && whole_open(w)) return true;
    }
    return false;
}

static int open_device(void **state) {
    (void)state;
    setenv("OMP_THREAD_LIMIT", "1", 1); /* on so small operands threads only wait for each other */
    return launch_open(NULL, "plain") ? 0 : -1;
}
static int close_device(void **state) {
    (void)state;
    launch_close();
    return 0;
}

/* ---- what the columns say is true */

/* By op and letter: the numbers of ranks that were tried, and whether parts that do not know their
 * place were wrong once. */
static struct { bool ranks[RANKS_MOST + 1], needs_place; } tried[OP_COUNT][128];

static void check_cut(const Whole *w, const Cut *cut, int n) {
    CutText why = {""};
    bool run = cut_has_kernels(cut, w->op.n_in + w->op.n_out);
    Outcome outcome =
        run ? cut_try_placed(w, cut, n, &why) : cut_try_knowing_place(w, cut, n, &why);
    if (outcome != OUTCOME_TRUE) fail_msg("%s: %s", w->c.title, why.at);
    tried[w->c.op][(int)cut->letter].ranks[n] = true;
    if (cut->at && cut_try(w, cut, n, &why) != OUTCOME_TRUE)
        tried[w->c.op][(int)cut->letter].needs_place = true;
}

/* A factor of a cut is a cut: its second half, of two, dealt in order and backwards. */
static void check_factor(const Whole *w, const Cut *cut, int n, Arena *arena) {
    Cut inner = *cut;
    uint32_t values = w->op.n_in + w->op.n_out;
    if (launch_module || cut->size % (2 * n)) return;
    inner.value = arena_copy(arena, cut->value, values * sizeof *cut->value);
    assert_true(cut_narrow(&inner, values, 2, cut->size / 2));
    if (!cut_has_kernels(&inner, values)) return;
    check_cut(w, &inner, n);
    cut_backwards = true;
    check_cut(w, &inner, n);
    cut_backwards = false;
}

/* Cuts whose parts of a result are parts of another dimension, or which another op merges:
 * vocabulary_test.c tests them. */
static bool is_of_vocabulary(OpKind op, char letter) {
    const CutColumn *column = cut_column(op);
    for (uint32_t k = 0; k < column->n; k++)
        if (column->item[k].letter == letter) return column->item[k].over || column->item[k].merge;
    return false;
}

static void check_case(const Whole *w) {
    Arena *arena = arena_new();
    Cut cuts[MOST_CUTS];
    uint32_t n_cuts = op_cuts(&w->op, cuts, arena);
    for (uint32_t k = 0; k < n_cuts; k++)
        for (int n = 2; n <= most_ranks(); n++)
            if (!is_of_vocabulary(w->c.op, cuts[k].letter) && cuts[k].size % n == 0 &&
                (cuts[k].at || !launch_module)) {
                check_cut(w, &cuts[k], n);
                check_factor(w, &cuts[k], n, arena);
            }
    arena_free(arena);
}

static void check_coverage(OpKind op) {
    const CutColumn *column = cut_column(op);
    for (uint32_t k = 0; k < column->n; k++) {
        char letter = column->item[k].letter;
        if ((launch_module && !column->item[k].at) || is_of_vocabulary(op, letter)) continue;
        for (int n = 2; n <= most_ranks(); n++)
            if (!tried[op][(int)letter].ranks[n])
                fail_msg("%s: letter %c was not cut in %d", op_info[op].name, letter, n);
        if (column->item[k].at && !tried[op][(int)letter].needs_place)
            fail_msg("%s: letter %c needs no `at`", op_info[op].name, letter);
    }
    if ((column->rule || op == OP_fused) &&
        !(tried[op][0].ranks[2] && tried[op][0].ranks[most_ranks()]))
        fail_msg("%s was not cut in 2 and 3", op_info[op].name);
}

static void every_cut_is_true(void **state) {
    (void)state;
    for (int op = 0; op < OP_COUNT; op++) {
        CaseWalk walk = {.op = (OpKind)op};
        Whole w;
        if (!has_columns((OpKind)op) || (launch_module && !op_reads_placements((OpKind)op)))
            continue;
        while (next_case(&walk, &w)) {
            check_case(&w);
            whole_close(&w);
        }
        check_coverage((OpKind)op);
    }
}

/* ---- every other word is wrong */

static const char *const rules_of_letters[] = {"each", "sum", "each at", "sum at"};

/* Letters that could be cut, but are left out. */
static const struct {
    OpKind op;
    const char *item, *why;
} left_out[] = {
    {OP_topk_grad, "E each at", "the router's numbers are whole"},
    {OP_experts_linear, "R each at", "ranks share out experts, not their rows"},
    {OP_experts_linear_grad_input, "R each at", "ranks share out experts, not their rows"},
    {OP_experts_linear_grad_weight, "R sum at", "ranks share out experts, not their rows"},
    {OP_attention, "H each at", "H with K is cut without a place"},
    {OP_attention_grad, "H sum at", "H with K is cut without a place"},
    {OP_attention_biased, "H each at", "H with K is cut without a place"},
    {OP_attention_biased_grad, "H sum at", "H with K is cut without a place"},
    {OP_attention_biased_each, "H each at", "H with K is cut without a place"},
    {OP_attention_biased_each_grad, "H sum at", "H with K is cut without a place"},
    {OP_attention_sunk, "H each at", "H with K is cut without a place"},
    {OP_cross_entropy_part, "P each at", "P is cut with V"},
    {OP_cross_entropy_each_grad, "V each at", "cross_entropy_each takes whole rows"},
    {OP_relative_bias, "N sum at", "the table of buckets is small"},
    {OP_relative_bias_grad, "N each at", "the table of buckets is small"},
};

static bool is_left_out(OpKind op, const char *item) {
    for (size_t k = 0; k < ARRAY_LEN(left_out); k++)
        if (left_out[k].op == op && !strcmp(left_out[k].item, item)) return true;
    return false;
}

/* Whether the op's column has that item. */
static bool has_item(const CutColumn *column, const CutItem *item) {
    for (uint32_t k = 0; k < column->n; k++) {
        CutItem own = column->item[k];
        own.padded = item->padded; /* tests/kernels/vocabulary_test.c */
        own.runs = item->runs;     /* check_factor */
        if (!memcmp(&own, item, sizeof own)) return true;
    }
    return false;
}

/* Whether every case agrees with a column that has only this item. */
static bool item_is_true(OpKind op, const CutColumn *column) {
    CutColumn *own = (CutColumn *)(uintptr_t)cut_column(op), kept = *own;
    CaseWalk walk = {.op = op, .also = column->item[0].letter};
    bool is_true = true, needs_place = false, any = false;
    Whole w;
    while (is_true && next_case(&walk, &w)) {
        Arena *arena = arena_new();
        Cut cuts[MOST_CUTS];
        CutText why;
        *own = *column;
        uint32_t n_cuts = op_cuts(&w.op, cuts, arena);
        for (uint32_t k = 0; k < n_cuts && is_true; k++)
            for (int n = 2; n <= RANKS_MOST && is_true; n++) {
                if (cuts[k].size % n) continue;
                any = true;
                Outcome blind = cut_try(&w, &cuts[k], n, &why);
                needs_place |= blind != OUTCOME_TRUE;
                is_true = cuts[k].at ? cut_try_knowing_place(&w, &cuts[k], n, &why) == OUTCOME_TRUE
                                     : blind == OUTCOME_TRUE;
            }
        *own = kept;
        arena_free(arena);
        whole_close(&w);
    }
    return any && is_true && (needs_place || !column->item[0].at);
}

static void try_word(OpKind op, const char *letters, const char *word, int *wrong, int *refused) {
    const CutColumn *own = cut_column(op);
    CutColumn column;
    char item[32];
    snprintf(item, sizeof item, "%s %s", letters, word);
    if (cut_column_parse(op, item, NULL, &column)) {
        ++*refused;
        return;
    }
    memcpy(column.linear, own->linear, sizeof column.linear);
    column.n_linear = own->n_linear;
    column.divisor = own->divisor;
    if (has_item(own, &column.item[0])) {
        if (is_left_out(op, item))
            fail_msg("%s: \"%s\" is left out and said", op_info[op].name, item);
        return;
    }
    ++*wrong;
    if (item_is_true(op, &column) == is_left_out(op, item)) return;
    print_message("%s: \"%s\" is %s\n", op_info[op].name, item,
                  is_left_out(op, item) ? "wrong, but listed as left out" : "true, but not said");
    *wrong += 1000000;
}

static void every_other_word_is_wrong(void **state) {
    int wrong = 0, refused = 0;
    (void)state;
    for (int op = 0; op < OP_COUNT; op++) {
        const Signature *s = op_signature((OpKind)op);
        if (!has_columns((OpKind)op) || !cut_column((OpKind)op)->n) continue;
        for (size_t k = 0; k < ARRAY_LEN(rules_of_letters); k++) {
            for (int i = 0; i < s->n_sizes; i++)
                try_word((OpKind)op, (char[]){s->size[i], 0}, rules_of_letters[k], &wrong,
                         &refused);
            for (int i = 0; i < s->n_sequences; i++)
                try_word((OpKind)op,
                         s->sequence[i] == '.' ? "..." : (char[]){s->sequence[i], '*', 0},
                         rules_of_letters[k], &wrong, &refused);
            const CutColumn *column = cut_column((OpKind)op);
            for (uint32_t i = 0; i < column->n; i++)
                if (column->item[i].with.kind == AXIS_SIZE)
                    try_word((OpKind)op,
                             (char[]){s->size[column->item[i].axis.which], ' ', 'w', 'i', 't', 'h',
                                      ' ', s->size[column->item[i].with.which], 0},
                             rules_of_letters[k], &wrong, &refused);
        }
    }
    print_message("%d other words are wrong, %d do not parse\n", wrong, refused);
    assert_true(wrong < 1000000);
}

/* ---- every other rule is wrong, or finds less */

static CutRule *const all_rules[] = {cut_along, cut_broadcast, cut_concat, cut_reshape,
                                     cut_slice, cut_split,     cut_sum,    cut_transpose};

static bool same_cut(const Cut *a, const Cut *b, uint32_t n_values) {
    bool same = a->size == b->size;
    for (uint32_t v = 0; v < n_values && same; v++)
        same = a->value[v].kind == b->value[v].kind && a->value[v].dim == b->value[v].dim &&
               a->value[v].outer == b->value[v].outer;
    return same;
}

/* Whether another rule finds a true cut of this case that the op's own rule does not find. */
static bool finds_more(const Whole *w, CutRule *other, int *wrong) {
    Arena *arena = arena_new();
    Cut own[MOST_CUTS], cuts[MOST_CUTS];
    CutSearch search = {.op = &w->op, .cuts = cuts, .arena = arena};
    uint32_t n_own = op_cuts(&w->op, own, arena);
    bool more = false;
    other(&search);
    for (uint32_t k = 0; k < search.n && !more; k++) {
        bool known = false, is_true = true;
        CutText why;
        for (uint32_t i = 0; i < n_own; i++)
            known |= same_cut(&cuts[k], &own[i], w->op.n_in + w->op.n_out);
        for (int n = 2; n <= RANKS_MOST && !known && is_true; n++)
            is_true = cuts[k].size % n || cut_try(w, &cuts[k], n, &why) == OUTCOME_TRUE;
        *wrong += !known && !is_true;
        more = !known && is_true && cuts[k].size % 6 == 0;
        if (more)
            print_message("%s: a cut of %lld entries is not found\n", w->c.title,
                          (long long)cuts[k].size);
    }
    arena_free(arena);
    return more;
}

static void no_other_rule_finds_more(void **state) {
    int wrong = 0;
    bool more = false;
    (void)state;
    for (int op = 0; op < OP_COUNT; op++) {
        CaseWalk walk = {.op = (OpKind)op, .next = n_cases};
        Whole w;
        if (!has_columns((OpKind)op) || !cut_column((OpKind)op)->rule) continue;
        while (next_case(&walk, &w)) {
            for (size_t k = 0; k < ARRAY_LEN(all_rules); k++)
                if (all_rules[k] != cut_column((OpKind)op)->rule)
                    more |= finds_more(&w, all_rules[k], &wrong);
            whole_close(&w);
        }
    }
    print_message("%d cuts of other rules are wrong\n", wrong);
    assert_false(more);
}

/* ---- linearity */

/* Groups in which ops are linear, although ops.def does not say so. */
static const struct {
    OpKind op;
    uint32_t operands;
    const char *why;
} linear_left_out[] = {
    {OP_power_grad_exponent, 1 << 2, "y is no sum"},
    {OP_layer_norm_grad_input, 1 << 2, "weights are whole"},
    {OP_layer_norm_grad_weight, 1 << 1 | 1 << 2, "x and its mean are no sums where a norm read x"},
    {OP_layer_norm_grad_weight, 1 << 3, "rstd is no sum"},
    {OP_rms_norm_grad_input, 1 << 2, "weights are whole"},
    {OP_rms_norm_grad_weight, 1 << 1, "x is no sum where a norm read it"},
    {OP_rms_norm_grad_weight, 1 << 2, "rstd is no sum"},
    {OP_mse_grad, 1 << 0 | 1 << 1, "targets are whole"},
};

static bool linear_is_left_out(OpKind op, uint32_t operands) {
    for (size_t k = 0; k < ARRAY_LEN(linear_left_out); k++)
        if (linear_left_out[k].op == op && linear_left_out[k].operands == operands) return true;
    return false;
}

/* Of the groups of float operands of cases with n operands: in which the op is not linear in some
 * case, and in which op_keeps_partial says that it is. Formulas differ by case: that they are
 * linear only where that is said is not expected. */
typedef struct Groups {
    bool seen, nonlinear[1 << MAX_CASE_OPERANDS], said[1 << MAX_CASE_OPERANDS];
} Groups;

/* Whether some operands that share a slot are in the group, and some are not: of experts without
 * rows the weights do not matter. */
static bool parts_a_list(const CutOp *op, uint32_t mask) {
    const Signature *s = op_signature(op->kind);
    for (uint32_t i = 0; i + 1 < op->n_in; i++)
        if ((mask >> i & 1) != (mask >> (i + 1) & 1) &&
            signature_operand(s, op->n_in, op->in, i) ==
                signature_operand(s, op->n_in, op->in, i + 1))
            return true;
    return false;
}

static void note_groups(const Whole *w, Groups *g) {
    uint32_t n = w->op.n_in;
    g->seen = true;
    for (uint32_t mask = 1; mask < 1u << n; mask++) {
        bool partial[MAX_CASE_OPERANDS], floats = !parts_a_list(&w->op, mask);
        for (uint32_t i = 0; i < n; i++) {
            partial[i] = mask >> i & 1;
            floats &= !partial[i] || type_is_float(&w->op.in[i]);
        }
        bool said = floats && op_keeps_partial(&w->op, partial);
        if (!said && g->nonlinear[mask]) continue; /* an earlier case has shown that */
        bool linear = floats && is_linear(w, partial);
        g->nonlinear[mask] |= !linear || w->c.op == OP_fused;
        g->said[mask] |= said;
        if (said && linear_is_left_out(w->c.op, mask))
            fail_msg("%s: linearity in operands %#x is left out and said", w->c.title, mask);
        if (said && !linear) fail_msg("%s is not linear in operands %#x", w->c.title, mask);
    }
}

static bool is_any_said(const Whole *w, const Groups *g) {
    bool any = false;
    for (uint32_t mask = 1; mask < 1u << w->op.n_in; mask++) any |= g->said[mask];
    return any;
}

static void every_linear_group_is_said(void **state) {
    (void)state;
    int unsaid = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        static Groups groups[MAX_CASE_OPERANDS + 1];
        bool any = false;
        CaseWalk walk = {.op = (OpKind)op};
        Whole w;
        memset(groups, 0, sizeof groups);
        if (!is_wanted(op_info[op].name)) continue;
        if (!has_columns((OpKind)op) && !cut_column((OpKind)op)->n_linear) continue;
        while (next_case(&walk, &w)) {
            note_groups(&w, &groups[w.op.n_in]);
            any |= is_any_said(&w, &groups[w.op.n_in]);
            whole_close(&w);
        }
        if (cut_column((OpKind)op)->n_linear && !any)
            fail_msg("no case of %s is linear as its column says", op_info[op].name);
        for (uint32_t n = 1; n <= MAX_CASE_OPERANDS; n++)
            for (uint32_t mask = 1; groups[n].seen && mask < 1u << n; mask++)
                if (!groups[n].nonlinear[mask] && !groups[n].said[mask] &&
                    !linear_is_left_out((OpKind)op, mask)) {
                    unsaid++;
                    print_message("%s of %u operands is linear in %#x, which is not said\n",
                                  op_info[op].name, n, mask);
                }
    }
    assert_int_equal(unsaid, 0);
}

/* ---- the form of the columns */

static void other_texts_are_refused(void **state) {
    static const struct {
        const char *cut, *linear, *fault;
    } texts[] = {
        {"Z each", NULL, "not a letter of the signature"},
        {"... all", NULL, "neither each, sum, over nor merge"},
        {"... each, O", NULL, "neither each, sum, over nor merge"},
        {"... each at once", NULL, "something left over"},
        {"... each; O each", NULL, "something left over"},
        {"... each, ... each", NULL, "a letter twice"},
        {"O sum", NULL, "every result has the letter, so it is no sum"},
        {"O with Z each", NULL, "not two letters of the signature"},
        {"D sum", "x w, z", "not the name of an operand, or a name twice"},
        {"D sum", "x x", "not the name of an operand, or a name twice"},
        {"D sum", "x,w", "something left over"},
        {"D sum", "x;", "not the name of an operand, or a name twice"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        CutColumn column;
        const char *fault = cut_column_parse(OP_linear, texts[k].cut, texts[k].linear, &column);
        assert_non_null(fault);
        assert_string_equal(fault, texts[k].fault);
    }
    CutColumn column;
    assert_string_equal(cut_column_parse(OP_embedding, NULL, "w ids", &column), "no sum of floats");
    assert_string_equal(cut_column_parse(OP_add, "... each", NULL, &column), "both CUT and CUT_BY");
}

int main(int argc, char **argv) {
    const struct CMUnitTest placed[] = {cmocka_unit_test(every_cut_is_true)};
    launch_module = argc > 1 ? argv[1] : NULL;
    if (launch_module) return cmocka_run_group_tests(placed, open_device, close_device);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_texts_are_refused),    cmocka_unit_test(every_cut_is_true),
        cmocka_unit_test(every_other_word_is_wrong),  cmocka_unit_test(no_other_rule_finds_more),
        cmocka_unit_test(every_linear_group_is_said),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}

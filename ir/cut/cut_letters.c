/* The cuts of one row of ops.def, from its columns: by the letters of its signature, or by the rule
 * that column CUT_BY names. */
#include "cut_column.h"

/* Results that are not cut are partial, and so are operands that are added to what is cut. */
static void make_sum(const CutOp *op, const CutColumn *column, Cut *cut) {
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool some = false;
        for (uint32_t i = 0; i < op->n_in; i++)
            some |= cut->value[i].kind == PLACE_CUT && cut_linear_names(op, column, k, i);
        for (uint32_t i = 0; i < op->n_in && some; i++)
            if (cut->value[i].kind == PLACE_WHOLE && cut_linear_names(op, column, k, i))
                cut->value[i].kind = PLACE_PARTIAL;
    }
    for (uint32_t j = op->n_in; j < op->n_in + op->n_out; j++)
        if (cut->value[j].kind == PLACE_WHOLE) cut->value[j].kind = PLACE_PARTIAL;
}

/* The cut along axis k of a run, or along a letter: k = 0. */
static void cut_letter(CutSearch *s, const BoundSignature *b, const CutColumn *column,
                       const CutItem *item, int k, int64_t size) {
    if (item->merge && s->op->in[0].rank == MAX_RANK) return; /* parts have an axis more */
    Cut *cut = cut_add(s, size);
    if (!cut) return;
    cut->letter = item->letter;
    cut->at = item->at;
    cut->runs = item->runs;
    cut->merge = item->merge;
    cut->pads = item->padded;
    for (uint32_t v = 0; v < s->op->n_in + s->op->n_out; v++) {
        int dim = signature_axis(b, v, &item->axis);
        if (dim < 0 && item->over) dim = signature_axis(b, v, &item->with);
        if (dim >= 0) cut_put(cut, v, dim + k, 1);
    }
    if (item->sum) make_sum(s->op, column, cut);
}

/* Letter `axis` is a multiple of letter `with`. */
static void cut_pair(CutSearch *s, const BoundSignature *b, const CutColumn *column,
                     const CutItem *item) {
    int64_t groups = b->size[item->with.which], all = b->size[item->axis.which];
    if (!groups || all % groups) return;
    for (int inside = 0; inside < 2; inside++) {
        Cut *cut = cut_add(s, inside ? all / groups : groups);
        if (!cut) continue;
        cut->letter = item->letter;
        cut->pair = inside ? PAIR_INSIDE : PAIR_OUTSIDE;
        cut->at = item->at;
        cut->runs = item->runs;
        for (uint32_t v = 0; v < s->op->n_in + s->op->n_out; v++) {
            int dim = signature_axis(b, v, &item->axis);
            if (dim < 0 && !inside) dim = signature_axis(b, v, &item->with);
            if (dim >= 0) cut_put(cut, v, dim, inside ? groups : 1);
        }
        if (inside || item->sum) make_sum(s->op, column, cut);
    }
}

static void cut_letters(CutSearch *s, const CutColumn *column) {
    const CutOp *op = s->op;
    BoundSignature b;
    if (!signature_might_fit(&b, op->kind, op->n_in, op->in, op->n_out, op->out)) return;
    for (uint32_t k = 0; k < column->n; k++) {
        const CutItem *item = &column->item[k];
        uint8_t which = item->axis.which;
        if (item->axis.kind == AXIS_SEQUENCE)
            for (int i = 0; i < b.sequence[which].n; i++)
                cut_letter(s, &b, column, item, i, b.sequence[which].dim[i]);
        else if (item->with.kind == AXIS_SIZE && !item->over)
            cut_pair(s, &b, column, item);
        else
            cut_letter(s, &b, column, item, 0, b.size[which]);
    }
}

/* Whether all operands of a group of LINEAR are cut: where they are 0, the op adds nothing, unless
 * it divides by 0 there. */
static bool keeps_zeros(const CutOp *op, const CutColumn *column, const Cut *cut) {
    for (uint32_t i = 0; i < op->n_in; i++)
        if (cut_divides_by(op, column, i) && cut->value[i].kind == PLACE_CUT) return false;
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool all = true, any = false;
        for (uint32_t i = 0; i < op->n_in; i++) {
            bool named = cut_linear_names(op, column, k, i);
            any |= named;
            all &= !named || cut->value[i].kind == PLACE_CUT;
        }
        if (any && all) return true;
    }
    return false;
}

void cut_row(CutSearch *s, CutRule *rule) {
    const CutColumn *column = cut_column(s->op->kind);
    uint32_t first = s->n;
    if (!rule) rule = column->rule;
    if (rule)
        rule(s);
    else if (column->n)
        cut_letters(s, column);
    for (uint32_t k = first; k < s->n; k++)
        s->cuts[k].pads |= keeps_zeros(s->op, column, &s->cuts[k]);
}

bool cut_row_keeps_partial(const CutOp *op, const bool *partial) {
    const CutColumn *column = cut_column(op->kind);
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool same = op->n_in > 0;
        for (uint32_t i = 0; i < op->n_in && same; i++)
            same = cut_linear_names(op, column, k, i) == partial[i];
        if (same) return true;
    }
    return false;
}

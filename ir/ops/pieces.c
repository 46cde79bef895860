/* Formulas that move parts (formula.h), turned into formulas without moves.
 *
 * All moves of such a formula must cut the same axis, number `rank`: the axes before it are the
 * same in all values, so a value consists of rows of these axes times a width of its own. Every
 * position at which a row is cut is a multiple of `run` elements. A value thus has width / run
 * pieces, each of all rows times run elements, and a step of the formula becomes one step per piece
 * of its result. The moves themselves disappear: it is known in advance which piece they refer to.
 * A piece of an operand is read in place (PieceWindow), a piece of a result is written to its place
 * (PieceStore). Elements at the same position of all pieces correspond to each other, like those of
 * values of one shape, so a kernel computes with pieces as with values.
 *
 * Not supported: cuts along two axes, sums of rows, steps whose values broadcast, more than PIECES
 * pieces per value.
 */
#include "pieces.h"

/* ---- the types of values */

/* Product of the dims from axis `from` on. */
static int64_t dims_from(const Type *t, int from) {
    int64_t n = 1;
    for (int i = from; i < t->rank; i++) n *= t->dim[i];
    return n;
}

static bool joins_parts(int function) {
    return function == SCALAR_concat || function == SCALAR_concat_3;
}
static bool stacks_parts(int function) {
    return function == SCALAR_stack || function == SCALAR_stack_3;
}

/* Whether all parts of the step have the shape of the first one, ignoring axis `but`. */
static bool parts_fit(const FormulaStep *s, const Type *value, uint32_t but) {
    const Type *x = &value[s->arg[0]];
    for (int a = 1; a < scalar_arity(s->function); a++) {
        Type part = value[s->arg[a]];
        if (part.rank != x->rank) return false;
        if (but < x->rank && but < MAX_RANK) part.dim[but] = x->dim[but];
        if (!type_same_dims(&part, x)) return false;
    }
    return true;
}

static bool concat_type(const FormulaStep *s, const Type *value, Type *y) {
    if (s->axis >= y->rank || !parts_fit(s, value, s->axis)) return false;
    for (int a = 1; a < scalar_arity(s->function); a++)
        y->dim[s->axis] += value[s->arg[a]].dim[s->axis];
    return true;
}

static bool stack_type(const FormulaStep *s, const Type *value, Type *y) {
    if (s->axis > y->rank || y->rank == MAX_RANK || !parts_fit(s, value, MAX_RANK)) return false;
    for (int i = y->rank++; i > (int)s->axis; i--) y->dim[i] = y->dim[i - 1];
    y->dim[s->axis] = scalar_arity(s->function);
    return true;
}

static bool split_type(const FormulaStep *s, Type *y) {
    if (s->axis >= y->rank || y->dim[s->axis] != s->count || s->start >= s->count) return false;
    y->rank--;
    for (int i = (int)s->axis; i < y->rank; i++) y->dim[i] = y->dim[i + 1];
    y->dim[y->rank] = 0;
    return true;
}

/* Whether a part of an axis of `whole` entries from `start` on is in range. */
static bool is_part(const FormulaStep *s, int64_t whole) {
    return s->count >= 1 && (int64_t)s->start + s->count <= whole;
}

/* The shape of a move's result. false: the operands do not have the right shapes. */
static bool move_type(const FormulaStep *s, const Type *value, Type *y) {
    *y = value[s->arg[0]];
    if (joins_parts(s->function)) return concat_type(s, value, y);
    if (stacks_parts(s->function)) return stack_type(s, value, y);
    if (s->function == SCALAR_split) return split_type(s, y);
    if (s->axis >= y->rank) return false;
    if (s->function == SCALAR_slice) {
        if (!is_part(s, y->dim[s->axis])) return false;
        y->dim[s->axis] = s->count;
        return true;
    }
    if (y->dim[s->axis] != s->count || !is_part(s, s->whole)) return false;
    y->dim[s->axis] = s->whole;
    return true;
}

static bool step_type(const FormulaStep *s, const Type *value, Type *y) {
    if (scalar_move(s->function)) return move_type(s, value, y);
    if (scalar_row(s->function) != ROW_NONE || s->function == SCALAR_expand) return false;
    if (s->function == SCALAR_constant) {
        *y = (Type){.rank = 1, .dim = {1}};
        return true;
    }
    *y = value[s->arg[0]];
    for (int a = 1; a < scalar_arity(s->function); a++)
        if (!type_broadcast(y, &value[s->arg[a]])) return false;
    return true;
}

bool moves_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value) {
    for (uint32_t k = 0; k < n_step; k++) {
        Type *y = &value[n_in + k];
        if (!step_type(&step[k], value, y)) return false;
        y->dtype = step[k].dtype;
        y->pitch = 0;
    }
    return true;
}

/* ---- pieces */

/* Numbers of pieces while they are made: those of operand i are i * PIECES + j, then the steps. */
enum { PIECE_FIRST = FORMULA_OPERANDS * PIECES, PIECE_MADE = 255 - PIECE_FIRST };

typedef struct PieceBuild {
    const FormulaStep *from;
    const Type *value; /* types of the formula's values */
    uint32_t n_in, n_from, n_step, n_store;
    Type outer; /* the axes that are not cut */
    int64_t run;
    Type shape[FORMULA_OPERANDS]; /* in which an operand is read; rank 0: not yet known */
    uint8_t piece[FORMULA_ALL][PIECES];
    FormulaStep step[PIECE_MADE];
    PieceStore store[PIECE_STORES];
} PieceBuild;

/* Finds the axis and the run that all moves have in common. */
static bool find_cuts(PieceBuild *b) {
    bool found = false;
    for (uint32_t k = 0; k < b->n_from; k++) {
        const FormulaStep *s = &b->from[k];
        const Type *x = &b->value[s->arg[0]], *y = &b->value[b->n_in + k];
        if (!scalar_move(s->function)) continue;
        if (found && s->axis != b->outer.rank) return false;
        if (!found) b->outer = *x;
        b->outer.rank = (uint8_t)s->axis;
        found = true;
        for (int a = 0; a < scalar_arity(s->function); a++)
            b->run = common_divisor(b->run, dims_from(&b->value[s->arg[a]], (int)s->axis));
        b->run = common_divisor(b->run, dims_from(y, (int)s->axis));
        if (s->function == SCALAR_slice || s->function == SCALAR_slice_grad)
            b->run = common_divisor(b->run, s->start * dims_from(x, (int)s->axis + 1));
    }
    return found && b->run > 0;
}

/* The number of pieces of a value of that shape; 0: its rows are different, or it has too many. */
static int64_t pieces_in(const PieceBuild *b, const Type *t) {
    bool rows = t->rank >= b->outer.rank;
    for (int i = 0; rows && i < b->outer.rank; i++) rows = t->dim[i] == b->outer.dim[i];
    int64_t width = rows ? dims_from(t, b->outer.rank) : 0;
    return width % b->run == 0 && width / b->run <= PIECES ? width / b->run : 0;
}

/* Notes that argument `arg` is read in that shape. */
static bool read_argument(PieceBuild *b, uint32_t arg, const Type *shape) {
    if (arg >= b->n_in)
        return b->from[arg - b->n_in].function == SCALAR_constant ||
               type_same_dims(&b->value[arg], shape);
    if (b->shape[arg].rank) return type_same_dims(&b->shape[arg], shape);
    b->shape[arg] = *shape;
    for (int64_t j = 0; j < PIECES; j++) b->piece[arg][j] = (uint8_t)(arg * PIECES + j);
    return shape->rank && pieces_in(b, shape) > 0;
}

/* The number of a new step; 0: there are too many. */
static uint8_t add_piece(PieceBuild *b, FormulaStep s) {
    if (b->n_step == PIECE_MADE) return 0;
    s.result = 0;
    b->step[b->n_step] = s;
    return (uint8_t)(PIECE_FIRST + b->n_step++);
}

static uint8_t copy_piece(PieceBuild *b, uint8_t piece, uint8_t dtype) {
    FormulaStep s = {.function = SCALAR_expand, .dtype = dtype, .arg = {piece}};
    return add_piece(b, s);
}

/* Takes n pieces of a value, from number `from` on, as pieces of a move's result from `to` on. */
static bool move_pieces(PieceBuild *b, uint32_t k, uint32_t arg, int64_t from, int64_t to,
                        int64_t n) {
    const FormulaStep *s = &b->from[k];
    for (int64_t j = 0; j < n; j++) {
        uint8_t piece = b->piece[arg][from + j];
        if (b->value[arg].dtype != s->dtype) piece = copy_piece(b, piece, s->dtype);
        b->piece[b->n_in + k][to + j] = piece;
        if (!piece && b->value[arg].dtype != s->dtype) return false;
    }
    return true;
}

static bool lower_move(PieceBuild *b, uint32_t k) {
    const FormulaStep *s = &b->from[k];
    const Type *x = &b->value[s->arg[0]];
    int64_t all = pieces_in(b, &b->value[b->n_in + k]), at = 0;
    for (int a = 0; a < scalar_arity(s->function); a++)
        if (!pieces_in(b, &b->value[s->arg[a]]) ||
            !read_argument(b, s->arg[a], &b->value[s->arg[a]]))
            return false;
    int64_t from = s->start * dims_from(x, (int)s->axis + 1) / b->run;
    if (s->function == SCALAR_slice || s->function == SCALAR_split)
        return move_pieces(b, k, s->arg[0], from, 0, all);
    if (s->function == SCALAR_slice_grad) {
        FormulaStep zero = {.function = SCALAR_constant, .dtype = s->dtype};
        int64_t n = pieces_in(b, x);
        uint8_t none = n < all ? add_piece(b, zero) : 0;
        for (int64_t j = 0; j < all; j++) b->piece[b->n_in + k][j] = none;
        return (n == all || none) && move_pieces(b, k, s->arg[0], 0, from, n);
    }
    for (int a = 0; a < scalar_arity(s->function); a++) {
        int64_t n = pieces_in(b, &b->value[s->arg[a]]);
        if (!move_pieces(b, k, s->arg[a], 0, at, n)) return false;
        at += n;
    }
    return true;
}

static bool lower_step(PieceBuild *b, uint32_t k) {
    const FormulaStep *s = &b->from[k];
    const Type *y = &b->value[b->n_in + k];
    bool constant = s->function == SCALAR_constant;
    int64_t all = constant ? 1 : pieces_in(b, y);
    if (!all) return false;
    if (scalar_move(s->function)) return lower_move(b, k);
    for (int a = 0; a < scalar_arity(s->function); a++)
        if (!read_argument(b, s->arg[a], y)) return false;
    for (int64_t j = 0; j < all; j++) {
        FormulaStep one = *s;
        for (int a = 0; a < scalar_arity(s->function); a++) one.arg[a] = b->piece[s->arg[a]][j];
        uint8_t piece = add_piece(b, one);
        b->piece[b->n_in + k][j] = piece;
        if (!piece) return false;
    }
    for (int64_t j = 1; constant && j < PIECES; j++)
        b->piece[b->n_in + k][j] = b->piece[b->n_in + k][0];
    return true;
}

/* Step k is a result: stores its pieces. A piece that is not a step, or is already stored
 * elsewhere, is copied first. */
static bool store_pieces(PieceBuild *b, uint32_t k) {
    const FormulaStep *s = &b->from[k];
    int64_t all = pieces_in(b, &b->value[b->n_in + k]);
    for (int64_t j = 0; j < all; j++) {
        uint8_t piece = b->piece[b->n_in + k][j];
        if (piece < PIECE_FIRST || b->step[piece - PIECE_FIRST].result)
            piece = copy_piece(b, piece, s->dtype);
        if (!piece || b->n_store == PIECE_STORES) return false;
        PieceStore to = {.offset = j * b->run, .pitch = all * b->run};
        to.result = (uint8_t)(s->result - 1);
        b->store[b->n_store++] = to;
        b->step[piece - PIECE_FIRST].result = (uint8_t)b->n_store;
    }
    return s->function != SCALAR_constant;
}

/* An operand and a result with the same number of elements may share memory: then both must have
 * the same layout. */
static bool may_share(const PieceBuild *b) {
    for (uint32_t i = 0; i < b->n_in; i++)
        for (uint32_t k = 0; k < b->n_from; k++)
            if (b->from[k].result && b->shape[i].rank &&
                !type_same_dims(&b->value[i], &b->shape[i]) &&
                type_elements(&b->value[i]) == type_elements(&b->value[b->n_in + k]))
                return false;
    return true;
}

/* ---- positions of pieces */

/* Piece j of an operand of type x, read in `shape`. */
static bool find_window(const PieceBuild *b, const Type *x, const Type *shape, int64_t j,
                        PieceWindow *w) {
    int64_t stride[MAX_RANK], inner = 1, at = j * b->run;
    int axis = shape->rank - 1;
    if (!type_strides(x, shape, stride)) return false;
    while (axis > b->outer.rank && inner * shape->dim[axis] < b->run) inner *= shape->dim[axis--];
    if (axis < b->outer.rank) { /* one element per row */
        type_spread(x, shape, &w->spread);
        return b->run == 1;
    }
    int64_t count = b->run / inner;
    if (b->run % inner || shape->dim[axis] % count) return false;
    int64_t size = inner;
    for (int i = axis; i >= b->outer.rank; i--) {
        w->offset += at / size % shape->dim[i] * stride[i];
        size *= shape->dim[i];
    }
    for (int i = 0; i < b->outer.rank; i++) spread_axis(&w->spread, shape->dim[i], stride[i]);
    spread_axis(&w->spread, count, stride[axis]);
    for (int i = axis + 1; i < shape->rank; i++) spread_axis(&w->spread, shape->dim[i], stride[i]);
    if (!w->spread.n) {
        w->spread.n = 1;
        w->spread.size[0] = 1;
        w->spread.stride[0] = 0;
    }
    return true;
}

/* Marks the pieces that results need. */
static void mark_needed(const PieceBuild *b, bool *needed) {
    for (uint32_t k = b->n_step; k-- > 0;) {
        const FormulaStep *s = &b->step[k];
        needed[PIECE_FIRST + k] |= s->result != 0;
        for (int a = 0; needed[PIECE_FIRST + k] && a < scalar_arity(s->function); a++)
            needed[s->arg[a]] = true;
    }
}

/* Renumbers the pieces that are needed, operands first. */
static bool finish_pieces(const PieceBuild *b, Pieces *p) {
    bool needed[PIECE_FIRST + PIECE_MADE] = {false};
    uint8_t number[PIECE_FIRST + PIECE_MADE];
    mark_needed(b, needed);
    for (uint32_t v = 0; v < PIECE_FIRST; v++) {
        if (!needed[v]) continue;
        if (p->n_in == PIECE_WINDOWS) return false;
        PieceWindow *w = &p->in[p->n_in];
        w->operand = (uint8_t)(v / PIECES);
        if (!find_window(b, &b->value[w->operand], &b->shape[w->operand], v % PIECES, w))
            return false;
        number[v] = (uint8_t)p->n_in++;
    }
    for (uint32_t k = 0; k < b->n_step; k++) {
        if (!needed[PIECE_FIRST + k]) continue;
        if (p->n_step == PIECE_STEPS) return false;
        FormulaStep *s = &p->step[p->n_step];
        *s = b->step[k];
        for (int a = 0; a < scalar_arity(s->function); a++) s->arg[a] = number[s->arg[a]];
        number[PIECE_FIRST + k] = (uint8_t)(p->n_in + p->n_step++);
    }
    p->n_store = b->n_store;
    for (uint32_t k = 0; k < b->n_store; k++) p->store[k] = b->store[k];
    return true;
}

bool formula_pieces(uint32_t n_in, uint32_t n_step, const FormulaStep *step, const Type *value,
                    Pieces *p) {
    PieceBuild b = {.from = step, .value = value, .n_in = n_in, .n_from = n_step};
    *p = (Pieces){.rows = 1};
    if (!find_cuts(&b)) return false;
    for (uint32_t k = 0; k < n_step; k++)
        if (!lower_step(&b, k)) return false;
    for (uint32_t k = 0; k < n_step; k++)
        if (step[k].result && !store_pieces(&b, k)) return false;
    for (int i = 0; i < b.outer.rank; i++) p->rows *= b.outer.dim[i];
    p->run = b.run;
    return may_share(&b) && finish_pieces(&b, p);
}

bool formula_cut(uint32_t n_in, const Type *const *in_type, uint32_t n_step,
                 const FormulaStep *step, const Type *const *out_type, Pieces *p) {
    Type value[FORMULA_ALL];
    if (n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS) return false;
    for (uint32_t i = 0; i < n_in; i++) value[i] = *in_type[i];
    if (!moves_types(n_in, n_step, step, value) || !formula_pieces(n_in, n_step, step, value, p))
        return false;
    for (uint32_t k = 0; k < n_step; k++)
        if (step[k].result && !type_same_dims(&value[n_in + k], out_type[step[k].result - 1]))
            return false;
    return true;
}

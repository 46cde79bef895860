/* The meaning of values: each value gets a number, and values with the same number are equal.
 *
 * In: a plan that was read. Out: Check.number, .without_dropout and .of_model, by value. The number
 * of a value is a hash of the op that makes it, the op's attributes, and its operands' numbers, so
 * it does not depend on where and when a value is computed, nor on which gather of a unit is read:
 * a view of a parameter has the parameter's number. The hash has a key that is drawn for each
 * check, so a plan cannot be constructed in which different terms have the same number: two terms
 * collide with probability 2^-64, whatever they are. Numbers are compared and added, and never
 * shown.
 *
 * Ops that compute what several others do are first split (check_parts) into parts, which are ops
 * of the table as their row says: a fused op has the numbers of the ops that it replaces. A result
 * that exists only between two parts also has a number; Check.inner gives its value. The steps of a
 * formula are parts. Sums are sums of numbers, so order and grouping do not matter; zeros are 0,
 * copies are not ops. Neither is all_reduce: check_gradients.c proves what is summed over ranks.
 * The same holds for sums that earlier micro-batches left: adding to one has the number of the
 * value that this micro-batch adds.
 *
 * `without_dropout` is the number that the value has in an evaluation: dropout is a copy, a term's
 * divisor is that of one micro-batch where training takes the step's, and a loss is the sum that it
 * begins with plus its means, which an evaluation may leave to the host.
 *
 * `of_model` is what the model says of the value (check_model.c): only ops that move a value do not
 * count, and ops that exist for speed are replaced by those of the model that they stand for.
 *
 * A fused op that check_parts does not know gets a unique number, so a plan with it is rejected,
 * never wrongly accepted.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "check.h"
#include "parts.h"
#include "signature.h"

static void set_part(Part *part, uint16_t op, uint32_t n_in, const uint32_t *in, uint32_t n_out,
                     uint32_t first) {
    *part = (Part){.op = op, .n_in = n_in, .n_out = n_out, .first = first, .others = first + 1};
    for (uint32_t k = 0; k < n_in; k++) part->own[k] = in[k];
}

/* The operands that affect an op's results. What earlier micro-batches left is not among them:
 * check_gradients.c counts it. */
static uint32_t counted(const PlanInstr *in) { return in->n_in - (in->attr.earlier && in->n_in); }

/* An op that adds its result to its last operand. */
static uint32_t split_sum(Part *part, const PlanInstr *in, const uint32_t *operand, uint32_t temp) {
    part[0] = (Part){.op = in->op, .n_in = in->n_in - 1, .n_out = 1, .in = operand, .first = temp};
    set_part(&part[1], OP_add, 2, (uint32_t[]){temp, operand[in->n_in - 1]}, 1, in->first_out);
    return 2;
}

_Static_assert((int)PART_OPERANDS <= (int)CHECK_PART_IN, "room of a Part");
_Static_assert((int)PART_RESULTS <= (int)FORMULA_PARTS, "room of a Part");

/* The value to which a name of column PARTS refers. */
static uint32_t part_value(const PlanInstr *in, const uint32_t *operand, uint32_t inner,
                           uint32_t name) {
    if (name >= PART_INNER) return inner + name - PART_INNER;
    return name >= PART_RESULT ? in->first_out + name - PART_RESULT : operand[name];
}

/* If part n lacks its last operand, its sum has one term and is that term: the part that made the
 * term makes the sum. */
static void drop_sum(Part *part, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < part[k].n_out; j++)
            if (part[k].out[j] == part[n].own[0]) part[k].out[j] = part[n].out[0];
}

/* The parts of column PARTS. */
static uint32_t table_parts(const PlanInstr *in, const OpParts *of, const uint32_t *operand,
                            uint32_t inner, Part *part) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < of->n; k++) {
        const OpPart *p = &of->part[k];
        part[n] = (Part){.op = p->op, .n_out = p->n_out, .listed = true};
        for (uint32_t j = 0; j < p->n_in; j++)
            if (p->in[j] >= PART_RESULT || p->in[j] < counted(in))
                part[n].own[part[n].n_in++] = part_value(in, operand, inner, p->in[j]);
        for (uint32_t j = 0; j < p->n_out; j++)
            part[n].out[j] = part_value(in, operand, inner, p->out[j]);
        if (p->op == OP_add && part[n].n_in == 1)
            drop_sum(part, n);
        else
            n++;
    }
    return n;
}

/* The number of values that exist only inside an instruction: those between its parts, the steps of
 * its formula, or the term that an op adds to its last operand. */
static uint32_t count_inner(const Plan *p, const PlanInstr *in) {
    uint32_t between = op_parts((OpKind)in->op)->n_inner;
    return in->op == OP_fused ? p->formulas[in->attr.index].n_step : MAX(between, 1u);
}

void check_index_inner(Check *c) {
    c->inner[0] = (uint32_t)c->p->n_values;
    for (uint64_t i = 0; i < c->p->n_instrs; i++)
        c->inner[i + 1] = c->inner[i] + count_inner(c->p, &c->p->instrs[i]);
}

uint64_t check_room(const Check *c) { return c->inner[c->p->n_instrs] + 1; }

uint64_t check_instr_of(const Check *c, uint32_t v) {
    if (v < c->p->n_values) return c->p->values[v].def;
    uint64_t low = 0, high = c->p->n_instrs; /* inner[low] <= v < inner[high] */
    while (low + 1 < high) {
        uint64_t middle = (low + high) / 2;
        *(c->inner[middle] <= v ? &low : &high) = middle;
    }
    return low;
}

/* The parts of a split are steps of their own, but one op. */
static uint32_t steps_of_part(const FormulaStep *s) {
    return s->function == SCALAR_split ? s->count : 1;
}

static uint32_t formula_parts(const Check *c, uint64_t i, Part *part) {
    const PlanInstr *in = &c->p->instrs[i];
    const PlanFormula *f = &c->p->formulas[in->attr.index];
    const FormulaStep *step = &c->p->steps[f->first_step];
    uint32_t value[FORMULA_OPERANDS + FORMULA_STEPS], parts = 0;
    for (uint32_t k = 0; k < f->n_in; k++) value[k] = c->operands[in->first_in + k];
    for (uint32_t k = 0; k < f->n_step; k++)
        value[f->n_in + k] = step[k].result ? in->first_out + step[k].result - 1 : c->inner[i] + k;
    for (uint32_t k = 0, n; k < f->n_step; k += n) {
        uint32_t own[FORMULA_ARGS], arity = (uint32_t)scalar_arity(step[k].function);
        Attrs a;
        n = steps_of_part(&step[k]);
        for (uint32_t j = 0; j < arity; j++) own[j] = value[step[k].arg[j]];
        set_part(&part[parts], (uint16_t)formula_step_op(&step[k], &a), arity, own, n,
                 value[f->n_in + k]);
        for (uint32_t j = 0; n > 1 && j < n; j++) part[parts].out[j] = value[f->n_in + k + j];
        part[parts].step = &step[k];
        part[parts++].listed = n > 1;
    }
    return parts;
}

/* The instruction that made this rank's part of operand 0, which all ranks' parts were gathered
 * into. */
static const PlanInstr *maker_of_parts(const Check *c, const PlanInstr *in) {
    uint32_t v = c->operands[in->first_in];
    for (;;) {
        const PlanInstr *def = &c->p->instrs[c->p->values[v].def];
        if (!check_moves_parts(c, def->op)) return def;
        v = c->operands[def->first_in + v - def->first_out];
    }
}

/* What merges the results that another op has of parts (column MERGED) is the op that both replace:
 * with the attributes of both, on what both read. */
static bool merged_part(const Check *c, const PlanInstr *in, Part *part) {
    uint16_t op = 0;
    uint64_t def = in->n_in ? c->p->values[c->operands[in->first_in]].def : NO_INSTR;
    if (def == NO_INSTR || !check_moves_parts(c, c->p->instrs[def].op)) return false;
    while (op < OP_COUNT && (!op_info[op].part || op_info[op].merge != in->op)) op++;
    if (op == OP_COUNT) return false;
    const PlanInstr *made = maker_of_parts(c, in);
    if (made->op != op_info[op].part || made->n_in != in->n_in) return false;
    for (uint64_t rest = op_info[op].attrs; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(rest);
        if (check_attr_word(&in->attr, bit) != check_attr_word(&made->attr, bit)) return false;
    }
    for (uint32_t k = 1; k < in->n_in; k++)
        if (c->operands[in->first_in + k] != c->operands[made->first_in + k]) return false;
    set_part(part, op, in->n_in, &c->operands[made->first_in], in->n_out, in->first_out);
    return true;
}

uint32_t check_parts(const Check *c, uint64_t i, Part part[CHECK_PARTS]) {
    const PlanInstr *in = &c->p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    const OpParts *of = op_parts((OpKind)in->op);
    const uint32_t *v = &c->operands[in->first_in];
    uint32_t out = in->first_out, temp = c->inner[i];
    if (in->op == OP_fused) return formula_parts(c, i, part);
    if (of->n) return table_parts(in, of, v, temp, part);
    if (c->cuts && merged_part(c, in, part)) return 1;
    if (o->alias == ALIAS_ACC && counted(in) == op_signature((OpKind)in->op)->in_max)
        return split_sum(part, in, v, temp);
    /* The loss scale is a factor of all gradients: check_constants.c */
    bool seeds = (o->attrs & A_exponent) && in->n_in == op_signature((OpKind)in->op)->in_max;
    bool scaled = seeds && in->n_in > op_signature((OpKind)in->op)->in_min;
    part[0] = (Part){.op = in->op,
                     .n_in = counted(in) - scaled,
                     .n_out = in->n_out,
                     .in = v,
                     .first = out,
                     .others = out + 1};
    return 1;
}

/* Types of the values inside of a formula. */
static void type_inner(Check *c, uint64_t i, Type *to) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanFormula *f = &p->formulas[in->attr.index];
    Type value[FORMULA_OPERANDS + FORMULA_STEPS] = {{0}};
    FormulaStep step[FORMULA_STEPS];
    for (uint32_t k = 0; k < f->n_in; k++) value[k] = *check_type(c, c->operands[in->first_in + k]);
    for (uint32_t k = 0; k < f->n_step; k++) {
        step[k] = p->steps[f->first_step + k];
        check_whole_step(c, i, &step[k]);
    }
    formula_whole_types(f->n_in, f->n_step, step, value);
    for (uint32_t k = 0; k < f->n_step; k++) to[k] = value[f->n_in + k];
}

/* Types of the values between the parts of column PARTS, inferred from the parts' signatures. */
static void type_between(Check *c, uint64_t i, Type *to) {
    Part part[CHECK_PARTS];
    uint32_t n = check_parts(c, i, part);
    for (uint32_t k = 0; k < n; k++) {
        Type in[PART_OPERANDS];
        BoundSignature b;
        for (uint32_t j = 0; j < part[k].n_in; j++) in[j] = *check_type(c, part[k].own[j]);
        bool fits = signature_bind(&b, (OpKind)part[k].op, part[k].n_in, in, 0, NULL);
        for (uint32_t j = 0; fits && j < part[k].n_out; j++)
            if (part[k].out[j] >= c->p->n_values)
                to[part[k].out[j] - c->inner[i]] = signature_infer(&b, j);
    }
}

void check_type_inner(Check *c) {
    for (uint64_t i = 0; i < c->p->n_instrs; i++) {
        const PlanInstr *in = &c->p->instrs[i];
        Type *to = &c->inner_type[c->inner[i] - c->p->n_values];
        if (in->op == OP_fused)
            type_inner(c, i, to);
        else if (op_parts((OpKind)in->op)->n)
            type_between(c, i, to);
        else if (in->n_out)
            *to = *check_type(c, in->first_out);
    }
}

const Type *check_type(const Check *c, uint32_t v) {
    if (v < c->p->n_values) return c->cuts ? &c->whole[v] : &c->p->values[v].type;
    return &c->inner_type[v - c->p->n_values];
}

bool check_same_shape(const Type *a, const Type *b) {
    return a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof(int64_t) * a->rank);
}

_Static_assert(CHECK_KEY_WORDS * sizeof(uint64_t) >= XXH3_SECRET_SIZE_MIN, "a key of XXH3");

void check_draw_key(Check *c) {
    if (getentropy(c->key, sizeof c->key))
        fail_environment("no random numbers to check a plan with: %s", strerror(errno));
}

/* Words that are hashed together. XXH3 mixes texts of up to 240 bytes with the key in products,
 * longer ones only in sums, so a longer row is hashed part by part. */
enum { TERM_WORDS = 30 };
typedef struct TermWords {
    const Check *c;
    uint32_t n;
    uint64_t at[TERM_WORDS];
} TermWords;

static uint64_t hash_words(const TermWords *w) {
    return XXH3_128bits_withSecret(w->at, w->n * sizeof *w->at, w->c->key, sizeof w->c->key).low64;
}

static void put_word(TermWords *w, uint64_t word) {
    if (w->n == TERM_WORDS) {
        w->at[0] = hash_words(w);
        w->n = 1;
    }
    w->at[w->n++] = word;
}

uint64_t check_attr_word(const Attrs *a, uint32_t bit) {
    uint64_t word;
    memcpy(&word, (const char *)a + bit * sizeof word, sizeof word);
    return word;
}

bool check_same_attributes(const PlanInstr *a, const PlanInstr *b, uint64_t but) {
    uint64_t both = op_info[a->op].attrs & op_info[b->op].attrs & ~but;
    for (uint32_t bit = 0; bit < ATTR_COUNT; bit++)
        if (both >> bit & 1 && check_attr_word(&a->attr, bit) != check_attr_word(&b->attr, bit))
            return false;
    return true;
}

bool check_counts(uint16_t op, uint32_t bit) {
    return (op_info[op].attrs >> bit & 1) && bit != ATTR_BIT_earlier;
}

bool check_is_copy(uint16_t op, const Attrs *a) {
    return (op == OP_scale && a->alpha == 1) || op == OP_fetch || op == OP_evict;
}

/* Results after the first have the shape that operands and attributes give them. */
uint64_t check_term(const Check *c, uint16_t op, const Attrs *a, uint32_t result, const Type *shape,
                    uint32_t n, const uint64_t *in) {
    if (check_is_copy(op, a)) return in[0];
    if (op == OP_fill && a->alpha == 0) return 0;
    if (op == OP_linear && n == 3) { /* a bias that is added by itself, after a sum over ranks */
        uint64_t both[2] = {check_term(c, op, a, result, shape, 2, in), in[2]};
        return check_term(c, OP_add, &(Attrs){0}, 0, shape, 2, both);
    }
    uint32_t rank = result == 0 ? shape->rank : 0;
    TermWords w;
    w.c = c;
    w.n = 0;
    put_word(&w, op | (uint64_t)rank << 32);
    put_word(&w, result | (uint64_t)n << 32);
    for (uint64_t rest = op_info[op].attrs; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(rest);
        if (check_counts(op, bit)) put_word(&w, check_attr_word(a, bit));
    }
    for (uint32_t k = 0; k < rank; k++) put_word(&w, (uint64_t)shape->dim[k]);
    for (uint32_t k = 0; k < n; k++) put_word(&w, in[k]);
    return hash_words(&w);
}

/* No op has so many results. */
uint64_t check_param_term(const Check *c, uint32_t param) {
    TermWords w;
    w.c = c;
    w.n = 0;
    put_word(&w, OP_param);
    put_word(&w, UINT32_MAX | (uint64_t)param << 32);
    return hash_words(&w);
}

/* By what the counts of instruction i along a dimension are multiplied. */
static int64_t scale_of(const Check *c, uint64_t i, int64_t dim) {
    int64_t scale = 1;
    for (int k = 0; k < c->n_levels; k++)
        if (c->scaled[i][k] == dim + 1) scale *= c->level_parts[k];
    return scale;
}

void check_whole_attrs(const Check *c, uint64_t i, uint16_t op, Attrs *a) {
    if (op != OP_slice && op != OP_slice_grad) return;
    int64_t scale = scale_of(c, i, a->axis);
    a->start *= scale;
    a->count *= scale;
}

void check_whole_step(const Check *c, uint64_t i, FormulaStep *step) {
    if (step->function != SCALAR_slice && step->function != SCALAR_slice_grad) return;
    uint32_t scale = (uint32_t)scale_of(c, i, step->axis);
    step->start *= scale;
    step->count *= scale;
    step->whole *= scale;
}

bool check_moves_parts(const Check *c, uint16_t op) {
    return op == OP_all_reduce || (c->cuts && op_changes_placement((OpKind)op));
}

Attrs check_part_attrs(const Check *c, uint64_t i, const Part *part) {
    Attrs a;
    if (!part->step) {
        a = c->p->instrs[i].attr;
        check_whole_attrs(c, i, part->op, &a);
        return a;
    }
    FormulaStep step = *part->step;
    check_whole_step(c, i, &step);
    formula_step_op(&step, &a);
    return a;
}

/* Does the instruction gather parts that end in padding? Its result ends in it, too. */
static bool gathers_padding(const Check *c, const PlanInstr *in) {
    if (in->op != OP_all_gather_part || in->n_in > 1) return false; /* several: check-10c */
    const Type *from = check_type(c, c->operands[in->first_in]);
    return check_type(c, in->first_out)->dim[in->attr.axis] != from->dim[in->attr.axis];
}

/* What gathers parts that end in padding ends in it, too: that is not the value, which a slice of
 * it is. Whether the part is either of the two; then *number is that of its result. in: those of
 * its operands. */
static bool number_padded(const Check *c, const Part *part, const Attrs *a, const uint64_t *in,
                          uint64_t *number) {
    const uint64_t salt = c->key[0] | 1;
    uint32_t v = check_part_in(part, 0);
    if (part->op == OP_all_gather_part) {
        uint64_t i = check_instr_of(c, check_part_out(part, 0));
        *number = in[0] + salt;
        return gathers_padding(c, &c->p->instrs[i]);
    }
    if (part->op != OP_slice || a->start || v >= c->p->n_values) return false;
    const PlanInstr *def = &c->p->instrs[c->p->values[v].def];
    *number = in[0] - salt;
    return gathers_padding(c, def) && def->attr.axis == a->axis &&
           check_type(c, c->operands[def->first_in])->dim[a->axis] == a->count;
}

/* Is the part made of all micro-batches of a step? */
static bool is_of_step(const Check *c, const Part *part, const Attrs *a) {
    bool wide = part->op == OP_field && a->index >= 0 && (uint64_t)a->index < c->p->n_fields &&
                c->p->fields[a->index].of;
    for (uint32_t k = 0; k < part->n_in; k++) wide |= c->of_step[check_part_in(part, k)];
    return wide;
}

uint64_t check_mean_term(const Check *c, uint64_t sum, uint64_t weights) {
    return check_term(c, OP_average, &(Attrs){0}, 0, &(Type){.rank = 0}, 2,
                      (uint64_t[]){sum, weights});
}

static uint64_t total_term(const Check *c, double alpha, uint64_t x) {
    Type exact = {.dtype = DT_I64, .rank = 1, .dim = {EXACT_WORDS}};
    return check_term(c, OP_total, &(Attrs){.alpha = alpha}, 0, &exact, 1, &x);
}

/* Of what program eval computes where the host divides. */
static uint64_t average_term(const Check *c, const Part *part, const Attrs *a, const uint64_t *in) {
    uint64_t weights = part->n_in > 2 ? total_term(c, 1, in[2]) : 0;
    return check_mean_term(c, total_term(c, a->alpha, in[0]), weights);
}

/* The term of result k in an evaluation. */
static uint64_t evaluation_term(const Check *c, const Part *part, const Attrs *a, uint32_t k,
                                bool wide, const uint64_t *in) {
    Attrs own = *a;
    Type t = *check_type(c, check_part_out(part, k));
    if (part->op == OP_average) return average_term(c, part, a, in);
    if (part->op == OP_average_loss) return in[0] + in[1];
    if (part->op == OP_balance_loss) return in[0] + check_term(c, part->op, a, k, &t, 1, in + 1);
    if (part->op == OP_field && wide) own.index = c->p->fields[a->index].of - 1;
    if (wide && t.rank) t.dim[0] /= c->p->settings->micro_batches;
    return check_term(c, part->op, &own, k, &t, part->n_in, in);
}

/* attention_packed is split and attention: its operand is [B, T, 3, H, h]. */
void check_packed_terms(const Check *c, const Part *part, uint64_t third[3]) {
    const Type *packed = check_type(c, check_part_in(part, 0));
    uint64_t in = c->of_model[check_part_in(part, 0)];
    Attrs by = {.axis = 2};
    Type t = {.dtype = packed->dtype, .rank = 4};
    const int kept[] = {0, 1, 3, 4};
    for (int k = 0; k < 4; k++) t.dim[k] = packed->dim[kept[k]];
    for (uint32_t k = 0; k < 3; k++) third[k] = check_term(c, OP_split, &by, k, &t, 1, &in);
}

/* Ops that exist for speed are those of the model that they stand for. */
static uint64_t model_term(const Check *c, const Part *part, const Attrs *a, uint32_t k,
                           const uint64_t *in) {
    const Type *t = check_type(c, check_part_out(part, k));
    uint64_t third[3];
    if (part->op != OP_attention_packed) return check_term(c, part->op, a, k, t, part->n_in, in);
    check_packed_terms(c, part, third);
    return check_term(c, OP_attention, a, k, t, 3, third);
}

typedef enum Meaning { OF_STEP, OF_EVALUATION, OF_MODEL, MEANINGS } Meaning;

static void number_part(Check *c, const Part *part, const Attrs *a, Meaning meaning) {
    bool evaluation = meaning == OF_EVALUATION;
    uint64_t *number = meaning == OF_MODEL ? c->of_model
                       : evaluation        ? c->without_dropout
                                           : c->number;
    uint64_t *in = c->terms;
    for (uint32_t k = 0; k < part->n_in; k++) in[k] = number[check_part_in(part, k)];
    if (c->cuts && part->n_in && number_padded(c, part, a, in, &number[check_part_out(part, 0)]))
        return;
    bool sum = part->op == OP_add && check_same_shape(check_type(c, check_part_in(part, 0)),
                                                      check_type(c, check_part_in(part, 1)));
    bool wide = evaluation && is_of_step(c, part, a);
    for (uint32_t k = 0; k < part->n_out; k++) {
        uint32_t v = check_part_out(part, k);
        c->of_step[v] |= wide && part->op != OP_average;
        if (check_moves_parts(c, part->op))
            number[v] = in[k];
        else if (meaning == OF_MODEL)
            number[v] = model_term(c, part, a, k, in);
        else if (sum)
            number[v] = in[0] + in[1];
        else if (part->op == OP_accumulate)
            number[v] = in[part->n_out + k];
        else if (evaluation && part->op == OP_dropout)
            number[v] = in[0];
        else if (evaluation)
            number[v] = evaluation_term(c, part, a, k, wide, in);
        else
            number[v] = check_term(c, part->op, a, k, check_type(c, v), part->n_in, in);
    }
}

/* Scratch has a number that no value of a model has, so an op that reads it computes no value of
 * the model either. */
static void number_scratch(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    int scratch = op_scratch((OpKind)in->op);
    if (scratch < 0) return;
    uint32_t v = check_out(c, i, (uint32_t)scratch);
    uint64_t number =
        check_term(c, in->op, &in->attr, (uint32_t)scratch, &(Type){.rank = 0}, 0, NULL);
    c->number[v] = c->without_dropout[v] = c->of_model[v] = number;
}

void check_number(Check *c, const PlanProgram *pr) {
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        int64_t param = check_param_shown(c, i);
        if (param >= 0) {
            uint32_t v = check_out(c, i, 0);
            c->number[v] = check_param_term(c, (uint32_t)param);
            c->without_dropout[v] = c->of_model[v] = c->number[v];
            continue;
        }
        Part part[CHECK_PARTS];
        uint32_t n = check_parts(c, i, part);
        for (uint32_t k = 0; k < n; k++) {
            Attrs a = check_part_attrs(c, i, &part[k]);
            for (int m = 0; m < MEANINGS; m++) number_part(c, &part[k], &a, (Meaning)m);
        }
        number_scratch(c, i);
    }
}

/* What the files of the plan checker share. Only its rooms and its tests include this.
 *
 * The checker takes the plan's tables (settings, groups, states, ..) as the statement of what must
 * happen, and the instructions, edges and addresses as what does happen; it proves that the second
 * does the first in every order that streams and edges allow. It uses nothing that a pass kept.
 *
 * Happens-before inside a program = order on a stream + edges. clock[i][s] is the number of
 * instructions of stream s that have finished whenever instruction i starts.
 */
#ifndef FSDPC_CHECK_H
#define FSDPC_CHECK_H

#include <setjmp.h>

#include "cut.h"
#include "op.h"
#include "plan.h"

#define NO_INSTR UINT64_MAX

typedef unsigned long long Llu;

/* Axes that may cut values in one plan. */
enum { CHECK_LEVELS = 3 };
enum { CHECK_KEY_WORDS = 24 }; /* as many as XXH3 takes at most from a short text */

/* Sets of proofs, for plan_check_rules. */
#define CHECK_RULE(n) (1u << (n))
#define CHECK_ALL_RULES 0x7feu /* 1 to 10 */

typedef struct Check {
    const Plan *p;
    Mesh mesh;
    AxisSet
        samples;  /* along which ranks read different samples: contributions are summed over them */
    AxisSet cuts; /* along which ranks share out values */
    AxisSet stages;           /* along which they have other layers */
    const uint32_t *operands; /* those of the plan; where a proof is about what stages compute
                                 together, those that check_link makes of them */
    int n_levels;             /* check_placement.c: one for each of these axes, innermost first */
    int level_axis[CHECK_LEVELS];
    int64_t level_parts[CHECK_LEVELS]; /* its ranks */
    PlanFault *fault;
    jmp_buf end; /* where check_stop goes */
    PlanCheckResult *result;
    Arena *arena; /* until the check ends */
    /* by instruction of the whole plan */
    uint32_t (*clock)[MAX_STREAMS];
    uint32_t *position; /* place on its stream, within its program */
    uint32_t *program;  /* its program */
    /* by value of the whole plan */
    uint32_t *root;      /* the value whose memory a view shows; itself otherwise */
    uint64_t *first_use; /* use[first_use[r] .. first_use[r + 1]): instructions that read root r, */
    uint32_t *use;       /* directly or through a view, ascending */
    uint32_t *linked;    /* operands as check_link makes them */
    Type *types;         /* space for the types of an instruction's operands and results */
    Place *place;        /* check_placement.c: how a value is placed along the level's axis */
    Type *part;          /* its type on a rank of that axis */
    Type *whole; /* its type on all ranks of the level's axis, and of those before, together */
    int level;   /* that is proved, later how many are */
    uint8_t (*scaled)[CHECK_LEVELS]; /* by instruction and level: 1 + the dimension of which
                                        attributes count a rank's entries only; 0: none does */
    uint32_t (*last)[MAX_STREAMS];   /* position + 1 of the last access of root r on each stream */
    uint64_t key[CHECK_KEY_WORDS];   /* check_terms.c: of the hash that numbers are */
    /* check_terms.c, by value of a Part */
    bool *of_step;                      /* by value: it is of all micro-batches of a step */
    uint64_t *number, *without_dropout; /* equal numbers are equal values; the second takes no
                                           account of dropout */
    uint64_t *of_model;                 /* the same as the model says it */
    uint64_t *terms;                    /* space for the numbers of one instruction's operands */
    uint32_t
        *inner; /* by instruction, and one more: the first value that exists only inside of it */
    Type *inner_type;              /* of those values, from n_values on */
    uint32_t *first_term_of_state; /* by state: the loss or metric that its sum began with, or what
                                      it keeps, + 1 */
    uint8_t *written; /* by state: a bit for each PlanCallKind whose calls add such a term to it */
} Check;

/* The instruction after the last one of the program. */
static inline uint64_t check_end(const PlanProgram *pr) {
    return (uint64_t)pr->first_instr + pr->n_instr;
}

/* check_common.c */
/* Files a fault and returns EXIT_CORRUPT; the proof may still decide that it is not a fault. rule:
 * "1a" for check-1a. */
int check_note(Check *c, const char *rule, uint64_t instr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Ends the check: the plan has the fault that was filed last. What proofs allocate is in
 * Check.arena. */
_Noreturn void check_stop(Check *c);
/* Both. */
_Noreturn void check_fail(Check *c, const char *rule, uint64_t instr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t check_in(const Check *c, uint64_t instr, uint32_t k); /* value number of operand k */
uint32_t check_out(const Check *c, uint64_t instr, uint32_t k);
bool check_before(const Check *c, uint64_t a, uint64_t b); /* a happens before b */
uint64_t check_bytes(const Check *c, uint32_t value);      /* of memory: with slots, of all */
/* Sizes as the checker counts them: of a type, in memory with the gaps between rows; ranks that
 * differ along axes of the set. */
int64_t check_elements(const Type *t);
int64_t check_element_bytes(int dtype);
uint64_t check_type_bytes(const Type *t);
int64_t check_ranks(const Check *c, AxisSet set);
Type check_whole_param(const Check *c, const PlanParam *param); /* on all ranks together */
/* Row of the states table whose entry version the value is, or -1. */
int64_t check_entry_state(const Check *c, uint32_t value);
/* Does the parameter of that row lie in one piece in its group, so that a view can show it? */
bool check_in_one_piece(const Check *c, const PlanGroupParam *at);
/* What the value is a copy of: for a fetch, the value in host memory; for a retain over the axes of
 * the gather, what this rank gave to the gather; for an evict, the value on the device. For any
 * other value, the value itself. */
uint32_t check_at_home(const Check *c, uint32_t value);
uint32_t check_as_made(const Check *c, uint32_t value);
bool check_is_zeros(const Check *c, uint32_t value); /* numbers of a fill with 0 */
/* The attributes that both ops have, except those of the set. */
bool check_same_attributes(const PlanInstr *a, const PlanInstr *b, uint64_t but);
bool check_is_loss(uint16_t op);
bool check_is_update(uint16_t op);
bool check_is_collective(const Check *c, uint64_t instr);
/* Does a user of a value touch its memory? A view is only a name (its readers are users
 * themselves), set_state of an entry version writes nothing. */
bool check_accesses(const Check *c, uint64_t user, bool entry);
/* Every access of the root value happens before instr starts. */
bool check_all_before(const Check *c, uint32_t root, uint64_t instr);
/* One or more proofs by themselves, for tests: a set of CHECK_RULE(n). What a proof takes from the
 * ones before it is then not proved, but nothing is read out of bounds. */
int plan_check_rules(const Plan *p, uint32_t rules, PlanFault *fault);

/* check_order.c: rules 1 and 3 of one program */
void check_reads(Check *c, uint32_t program);
void check_parameters(Check *c, uint32_t program);
void check_kept(Check *c, uint32_t role); /* rule 3 over the calls of a role */
/* The row of params that the instruction makes of a flat value, in the dtype in which it is read,
 * or -1: a view, a copy out of it, or the cast of a view of the master. */
int64_t check_param_shown(const Check *c, uint64_t instr);
void check_overlaps(Check *c, uint32_t program); /* check_memory.c: rule 2 of one program */
/* check_peak.c: rule 6 of the plan; scratch memory that an instruction may use on a device */
void check_peak(Check *c);
uint64_t check_workspace(const Check *c, uint64_t instr, int device);
/* check_sweep.c: range k is what holder k has of the memory; holders are in the order in which they
 * come. `before` and `after` both have address `at`, which nobody between them has. */
typedef struct CheckRange {
    uint64_t from, to;
} CheckRange;
typedef void CheckMeeting(void *context, uint64_t at, uint32_t before, uint32_t after);
void check_sweep(const CheckRange *range, uint32_t n, void *context, CheckMeeting *meet);
/* check_overwrite.c: may instruction i write result j over its operand k? */
bool check_may_overwrite(const Check *c, uint64_t i, uint32_t k, uint32_t j);
/* check_placement.c: rule 10 of one program */
void check_placements(Check *c, const PlanProgram *pr);
/* check_terms.c: what attributes are on whole types, if they count entries of that dimension. */
void check_whole_attrs(const Check *c, uint64_t i, uint16_t op, Attrs *a);
void check_whole_step(const Check *c, uint64_t i, FormulaStep *step);
/* check_gradients.c: rule 4 of one role's step */
void check_gradients(Check *c, uint32_t role);
void check_samples(Check *c);    /* before it: finds Check.samples */
void check_evaluation(Check *c); /* rule 4 of the plan: it evaluates what it trains */
/* check_saves.c: rule 9 of the plan: what is written while a step runs */
void check_saves(Check *c);
/* check_constants.c: rule 4 of the plan: optimizer and settings agree */
void check_constants(Check *c);
/* check_model.c: rule 8 of the plan; after rule 4, which says what each loss and metric is. */
void check_model(Check *c);
/* check_dtypes.c: rule 8, of the dtypes of values; after rule 1: results come after operands */
void check_dtypes(Check *c);
void check_facts(Check *c); /* check_facts.c: the same of the tables */
/* check_terms.c: what values stand for. A Part is an instruction, or one of the ops that a fused
 * instruction stands for. Its values are those of the plan; after them, from Check.inner[i] on, is
 * what exists only inside of instruction i. */
enum { CHECK_PARTS = FORMULA_STEPS, CHECK_PART_IN = 6 };
typedef struct Part {
    uint16_t op;
    const FormulaStep *step; /* that it is; NULL: it has the attributes of the instruction */
    uint32_t n_in, n_out;
    const uint32_t *in; /* operands; NULL: own */
    uint32_t own[CHECK_PART_IN];
    uint32_t first, others; /* results: the first one, the second one; more follow that */
    bool listed;            /* results: these instead */
    uint32_t out[FORMULA_PARTS];
} Part;
static inline uint32_t check_part_in(const Part *part, uint32_t k) {
    return part->in ? part->in[k] : part->own[k];
}
static inline uint32_t check_part_out(const Part *part, uint32_t k) {
    if (part->listed) return part->out[k];
    return k ? part->others + k - 1 : part->first;
}
/* In the order in which they compute; the number of parts. */
uint32_t check_parts(const Check *c, uint64_t instr, Part part[CHECK_PARTS]);
Attrs check_part_attrs(const Check *c, uint64_t instr, const Part *part);
/* Does the op only move a value between ranks that share it out? Its result stands for the same. */
bool check_moves_parts(const Check *c, uint16_t op);
/* How many entries tables by value of a Part need: values of the plan and those that exist only
 * inside of instructions. */
uint64_t check_room(const Check *c);
uint64_t check_instr_of(const Check *c, uint32_t value); /* the one that makes it */
const Type *check_type(const Check *c, uint32_t value);
bool check_same_shape(const Type *a, const Type *b);
bool check_is_copy(uint16_t op, const Attrs *a);
uint64_t check_attr_word(const Attrs *a, uint32_t bit); /* the attribute of that bit, as bits */
bool check_counts(uint16_t op, uint32_t bit); /* does the attribute say what the op computes? */
/* The number of a result of an op; its shape counts only for result 0. */
uint64_t check_term(const Check *c, uint16_t op, const Attrs *a, uint32_t result, const Type *shape,
                    uint32_t n_in, const uint64_t *in);
/* The mean that two results of op total, a sum and its weights, make; weights 0: the mean of the
 * elements. */
uint64_t check_mean_term(const Check *c, uint64_t sum, uint64_t weights);
/* Those that the model has in the place of the operand of attention_packed. */
void check_packed_terms(const Check *c, const Part *part, uint64_t third[3]);
uint64_t check_param_term(const Check *c, uint32_t param);
void check_draw_key(Check *c);                      /* before the others */
void check_number(Check *c, const PlanProgram *pr); /* all values of the program */
void check_index_inner(Check *c);                   /* before the others */
void check_type_inner(Check *c);                    /* after it: fills Check.inner_type */

/* check_contributions.c */
typedef struct GradientForm {   /* a row of check_backward.def */
    uint16_t forward, gradient; /* OP_COUNT: the gradient of the result itself */
    uint8_t operand, broadcast, result, n_arg, arg[8];
    double alpha;
} GradientForm;
typedef struct Backward {
    Check *c;
    const PlanProgram *program;
    uint8_t first_form[OP_COUNT], n_forms[OP_COUNT];
    uint32_t *param; /* by instruction: the parameter that it shows + 1 */
    /* by value of a Part */
    uint8_t *wanted;    /* depends on a trained parameter */
    uint8_t *reached;   /* leads to a loss */
    uint64_t *gradient; /* number of the gradient of the loss by it */
    uint64_t *of_param; /* by parameter, the same */
} Backward;
typedef struct Contribution { /* of a forward op to the gradient of its operand */
    uint64_t instr;
    Part part;
    uint32_t operand;
    const GradientForm *form;
} Contribution;
void check_index_forms(Backward *s);
/* The contributions of a part to operand k; NULL: none flows there. */
const GradientForm *check_form(const Backward *s, uint16_t op, uint32_t k);
/* Visits what an instruction contributes, once all gradients of its results are there. */
void check_contributions(Backward *s, uint64_t instr, void *context,
                         void (*visit)(Backward *, void *context, const Contribution *));
uint64_t check_contribution(const Backward *s, const Contribution *u); /* its number */
bool check_is_summed(const Backward *s, const Contribution *u);
uint16_t check_sum_op(const Backward *s, const Contribution *u); /* if it is: by which op */
/* What the gradient op reads as operand k; true: not the value but its gradient. */
bool check_gradient_arg(const Part *part, const GradientForm *f, uint32_t k, uint32_t *value);
uint32_t check_gradient_result(const Contribution *u);
uint32_t check_gradient_args(const Part *part, const GradientForm *f);
Attrs check_gradient_attrs(const Check *c, const Contribution *u);
/* check_backward.c: rule 4 of one program: what is repeated is what forward computes */
void check_recomputed(Check *c, const PlanProgram *pr);
/* check_backward.c: rule 4 of one program: gradients are those of the loss */
void check_backward(Check *c, const PlanProgram *pr);
/* check_blame.c: which instruction is why the pack's operand is not the parameter's gradient */
void check_blame(Backward *s, uint64_t pack, uint32_t param, uint32_t value);
/* check_stages.c: of a pipeline, whose programs of a kind are pieces of one that computes the whole
 * model. The first gives the programs that pieces make together. */
uint32_t check_whole_programs(const Check *c, PlanProgram *whole); /* [n_programs]; how many */
void check_link(Check *c, uint32_t *operands); /* rule 5e; what pieces read, as others make it */
void check_calls(Check *c);                    /* rules 5e, 5f, 7c and 10g of a step's calls */
/* check_collectives.c: rules 5 and 7 of the plan */
void check_cycles(Check *c);
void check_collectives(Check *c);

#endif

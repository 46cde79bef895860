/* Proof 4 over the calls of a step (check_gradients.c has its rules): what check_gradients.c,
 * follow_*.c and stages/follow_shared.c share.
 *
 * The proof walks a role's calls in order. Each value has a Sym, which says what the value holds of
 * which gradient, loss or norm; each state has a Content, which says the same between calls. One
 * function for each kind of op (`follow_..`) derives the Sym of the results from those of the
 * operands, and reports a fault where they do not fit together.
 */
#ifndef FSDPC_CHECK_GRADIENTS_H
#define FSDPC_CHECK_GRADIENTS_H

#include "check.h"

enum {
    SYM_NONE,
    SYM_GRADIENT,
    SYM_TERM,
    SYM_NORM,
    SYM_STATS,
    SYM_DERIVED,
    SYM_LARGEST,
    SYM_PART,
    SYM_ELSEWHERE /* a sum in which this stage has no part: another role's ranks have its Sym */
};

typedef struct Sym {
    uint8_t kind, entry, current;
    AxisSet summed;      /* axes over which it is a sum of ranks' contributions */
    AxisSet split;       /* axes over which it was cut: a rank has one shard */
    int32_t group;       /* SYM_GRADIENT, SYM_PART, SYM_DERIVED, SYM_LARGEST: its group; SYM_TERM,
                            SYM_STATS: minus the op that made it */
    uint32_t source;     /* the state that `entry` is about, if that is not 0 */
    uint32_t value;      /* SYM_TERM: the value that the sum began with; SYM_DERIVED: the
                            instruction that made it, or its part of each rank; SYM_PART: which
                            parameter of the group */
    uint32_t head, tail; /* SYM_NORM: groups + 1, linked through GradientCheck.next */
    uint32_t taken;      /* SYM_NORM: instruction + 1 that added it to another */
} Sym;

typedef struct Content {
    uint64_t calls; /* contributions in it */
    uint8_t kind, written;
    AxisSet summed, split; /* as in Sym */
    int32_t group;         /* as in Sym */
} Content;

typedef struct GradientCheck {
    Check *c;
    int64_t times;
    uint64_t total; /* calls of the whole step */
    bool evaluation;
    Sym *sym;          /* by value of the plan */
    Content *before;   /* by state: when the program starts */
    Content *content;  /* by state: when it ends, as far as it was followed */
    uint8_t *reported; /* by state: written by some call of the role */
    uint32_t *updated; /* by group: times updated */
    uint32_t *next;    /* by group: link of a norm's list */
    uint32_t *listed;  /* by group: grad_norm instruction + 1 of this program */
    /* of groups that several stages have: */
    uint32_t
        *joined; /* by group: + 1, a group of the same role, whose gradient has its own added */
    uint32_t *shared;  /* by group: which sum over stages of its role has its gradient, from 1 on */
    uint32_t *updater; /* by group: update instruction + 1 */
    uint32_t sums, sums_of; /* so many sums over stages in program sums_of - 1 */
} GradientCheck;

/* The axes over which terms are summed before anybody reads them. */
static inline AxisSet follow_everywhere(const GradientCheck *s) {
    return s->c->samples | s->c->stages;
}
static inline Sym *sym_in(GradientCheck *s, uint64_t i, uint32_t k) {
    return &s->sym[check_in(s->c, i, k)];
}
static inline Sym *sym_out(GradientCheck *s, uint64_t i, uint32_t k) {
    return &s->sym[check_out(s->c, i, k)];
}
/* Contributions that a value holds when its program runs for the last time. */
static inline uint64_t follow_contributions(const GradientCheck *s, const Sym *v) {
    uint64_t earlier = v->entry ? s->before[v->source].calls : 0;
    return earlier + v->entry * (uint64_t)(s->times - 1) * v->current + v->current;
}

/* Each follows instruction i: sets the Sym of its results, or reports what is wrong with it.
 */

/* follow_states.c: what states hold between the calls of a step */
void follow_state(GradientCheck *s, uint64_t i);
void follow_set_state(GradientCheck *s, uint64_t i);
void follow_view(GradientCheck *s, uint64_t i); /* of one parameter in a group's state */

/* follow_sums.c: how contributions arise and are added up */
void follow_copy(GradientCheck *s, uint64_t i); /* a result that stands for the operand */
void follow_term(GradientCheck *s, uint64_t i); /* an op of the model: maybe a loss or a metric */
void follow_earlier(GradientCheck *s, uint64_t i); /* adds its result to earlier micro-batches */
void follow_sum(GradientCheck *s, uint64_t i);
void follow_pack(GradientCheck *s, uint64_t i);
void follow_reduction(GradientCheck *s, uint64_t i);
void follow_retained(GradientCheck *s, uint64_t i);
void follow_stats(GradientCheck *s, uint64_t i); /* statistics of routing, or an average */
void follow_stats_reader(GradientCheck *s, uint64_t i);
void follow_loss_term(GradientCheck *s,
                      uint64_t i); /* adds a term made of statistics to the loss */
void follow_told_term(GradientCheck *s, uint64_t i); /* such a term by itself, for the log */

/* follow_updates.c: what reads complete gradients and makes new states of them */
void follow_norm(GradientCheck *s, uint64_t i);
void follow_scale(GradientCheck *s, uint64_t i);
void follow_derived(GradientCheck *s, uint64_t i); /* from a gradient, for the update */
void follow_update(GradientCheck *s, uint64_t i);
void follow_amax(GradientCheck *s, uint64_t i);
void follow_quantized(GradientCheck *s, uint64_t i);
/* backend/check/stages/follow_shared.c: gradients of parameters that several stages read */
/* Result j of an accumulate: the sum of those of two stages of one role. */
void follow_join(GradientCheck *s, uint64_t i, uint32_t j);
void follow_shared_sum(GradientCheck *s, uint64_t i);       /* over stages */
void follow_shared_end(GradientCheck *s);                   /* after a step */
bool follow_is_alike(const Check *c, int64_t a, int64_t b); /* groups of the same parameters */
int64_t follow_first_alike(const Check *c, int64_t group);  /* the first such group */

/* Is v the result of an update or of step_scale that this state is made for? */
bool follow_is_update_of(const Check *c, uint32_t v, const PlanState *st);
/* Is v the copy that the group's update makes of its master shard, or a cast of that shard? */
bool follow_is_new_copy(const Check *c, uint32_t v, int64_t group);

#endif

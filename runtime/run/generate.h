/* --generate and --prompts, in four files of room run:
 *
 *   generate  runs the model and adds tokens to texts
 *   sampling  chooses a token by logits
 *   prompts   reads prompts before ranks open, and prints texts
 *   logits    what of a plan generation needs: which instruction has logits, who has which of them
 */
#ifndef FSDPC_GENERATE_H
#define FSDPC_GENERATE_H

#include "run.h"

/* ---- logits.c */
typedef struct Logits {
    const PlanRole *role;   /* the ranks that compute them */
    const PlanState *state; /* train.cache: of one position, in this state; NULL: of all, */
    const PlanValue *value; /* as operand of this instruction of the evaluation: */
    uint32_t instr;
    Type type;
} Logits;
const PlanField *logits_inputs(const Plan *p); /* the field of token ids; NULL: none */
bool logits_reads_bytes(const Plan *p);
/* Those of the first cross entropy, which belongs to the loss; false: there is none. */
bool logits_find(const Plan *p, Logits *out);
/* What the rank has of a dimension of the logits. */
DimPart logits_part(const Plan *p, const Logits *l, int dim, int64_t rank);
/* The place among the rank's rows of one of a sample's positions; -1: it has others. */
int64_t logits_row(const Plan *p, const Logits *l, int64_t rank, int64_t sample, int64_t position);
/* Ids that can be chosen, and that can stand in a text. */
int64_t logits_tokens(const Run *run, const Logits *l);
/* Does the plan compute logits for each token that it reads? The mode is named in the message. */
int logits_check(const Plan *p, const char *mode, char *error);

/* ---- prompts.c; what generate_check made lies in the run's inputs */
typedef struct Prompt {
    const char *text;
    int32_t *ids;
    int64_t n; /* at least 1 */
} Prompt;
struct Prompts {
    char *file; /* --prompts: its bytes, lines ended by 0 */
    int64_t n, n_end;
    Prompt *at;
    int64_t end[16]; /* the texts end before one of these */
};
bool prompts_end(const Prompts *p, int64_t id);
/* Writes a token of --generate to standard output. */
int prompts_print_token(const Run *run, int32_t id, bool first, char *error);
/* Writes a line of --prompts: the n tokens that were added to the prompt, with their costs. */
int prompts_print_text(const Run *run, const Prompt *p, const int32_t *added, const double *cost,
                       int64_t n, bool ended, char *error);

/* ---- sampling.c */
/* The logits of ids from, .. from + n - 1, which are part `part` of `parts`; n = 0: it has none. */
typedef struct Candidates {
    const double *logit;
    double *chance; /* space for n */
    int64_t n, from, part, parts;
    Rank *rank; /* through which parts agree on the largest word; of one part unused */
} Candidates;
/* The id on all parts, -1 where no logit is a number. */
int sample_token(const Candidates *c, const TokenChoice *s, uint64_t text, uint64_t token,
                 int64_t *id);
/* -log of the chance of the token among all of them, at temperature 1. */
int token_cost(const Candidates *c, int64_t id, double *cost);

#endif

/* What of a plan generation needs, as generate.h says. */
#include <string.h>

#include "data.h"
#include "generate.h"
#include "op.h"

static const PlanSource *source_of(const Plan *p) {
    for (uint64_t i = 0; i < p->n_sources; i++)
        if (!strcmp(plan_string(p, p->sources[i].name), "train")) return &p->sources[i];
    return NULL;
}

bool logits_reads_bytes(const Plan *p) { return source_of(p)->kind == SOURCE_TEXT; }

const PlanField *logits_inputs(const Plan *p) {
    for (uint64_t i = 0; i < plan_batch_fields(p); i++)
        if (!strcmp(plan_string(p, p->fields[i].name), "inputs")) return &p->fields[i];
    return NULL;
}

static bool find_instr(const Plan *p, const PlanProgram *q, Logits *out) {
    for (uint32_t i = q->first_instr; i < q->first_instr + q->n_instr; i++) {
        const PlanInstr *in = &p->instrs[i];
        bool sets = in->op == OP_set_state && &p->states[in->attr.index] == out->state;
        if (out->state ? !sets
                       : in->op != OP_cross_entropy && in->op != op_info[OP_cross_entropy].part)
            continue;
        out->instr = i;
        out->role = &p->roles[plan_stage_role(p, q->stage)];
        out->value = &p->values[p->operands[in->first_in]];
        out->type = out->value->type;
        return true;
    }
    return false;
}

bool logits_find(const Plan *p, Logits *out) {
    bool cached = plan_find_state(p, STATE_CACHE, -1) != NULL;
    *out = (Logits){.state = cached ? plan_find_state(p, STATE_PREDICTION, -1) : NULL};
    for (uint32_t i = 0; i < p->n_programs; i++)
        if (p->programs[i].kind == PROGRAM_EVAL && find_instr(p, &p->programs[i], out)) return true;
    return false;
}

DimPart logits_part(const Plan *p, const Logits *l, int dim, int64_t rank) {
    static const Placement whole;
    const Placement *placed = plan_placement(p, l->value);
    Mesh mesh = plan_mesh(p);
    return placement_part(placed ? placed : &whole, &mesh, rank, &l->type, dim);
}

/* The place of an entry of the whole dimension in the part; -1: it is in another one. */
static int64_t place_in(const DimPart *part, int64_t entry) {
    int64_t run = part->whole / part->runs, number = entry / run;
    int64_t at = entry % run - (number % 2 ? part->second : part->from);
    return at < 0 || at >= part->count ? -1 : number * part->count + at;
}

int64_t logits_row(const Plan *p, const Logits *logits, int64_t rank, int64_t sample,
                   int64_t position) {
    const Type *t = &logits->type;
    int64_t length = logits_inputs(p)->type.dim[1], row = sample * length + position, place = 0;
    if (plan_rank_role(p, rank) != logits->role) return -1;
    if (logits->state) return sample;
    int64_t entry[MAX_RANK];
    for (int i = t->rank - 2; i >= 0; i--) {
        int64_t whole = logits_part(p, logits, i, rank).whole;
        entry[i] = row % whole;
        row /= whole;
    }
    for (int i = 0; i + 1 < t->rank; i++) {
        DimPart part = logits_part(p, logits, i, rank);
        int64_t at = place_in(&part, entry[i]);
        if (at < 0) return -1;
        place = place * t->dim[i] + at;
    }
    return place;
}

static int64_t vocabulary_size(const Plan *p, const Logits *logits) {
    return logits_part(p, logits, logits->type.rank - 1, 0).whole;
}

/* On all ranks that share them out together. */
static int64_t count_logits(const Plan *p, const Logits *logits) {
    int64_t n = 1;
    for (int i = 0; i < logits->type.rank; i++) n *= logits_part(p, logits, i, 0).whole;
    return n;
}

int64_t logits_tokens(const Run *run, const Logits *logits) {
    const Plan *p = run->plan;
    FieldRange range[64];
    CHECK(p->n_fields <= ARRAY_LEN(range));
    field_ranges(p, range);
    int64_t n = vocabulary_size(p, logits), below = range[logits_inputs(p) - p->fields].below;
    if (below) n = MIN(n, below);
    if (run->inputs.tokenizer) n = MIN(n, tokenizer_ids(run->inputs.tokenizer));
    return logits_reads_bytes(p) ? MIN(n, 256) : n;
}

static bool evaluates_in_chunks(const Plan *p) {
    for (uint64_t i = 0; i < p->n_instrs; i++)
        if (p->instrs[i].op == OP_linear_cross_entropy) return true;
    return false;
}

static const char *why_not(const Plan *p) {
    const PlanSource *s = source_of(p);
    const PlanField *inputs = logits_inputs(p);
    Logits l;
    bool rows =
        s && !s->corruption &&
        (s->kind == SOURCE_TEXT || s->kind == SOURCE_TOKENS || s->kind == SOURCE_SYNTHETIC_TOKENS);
    if (!rows || !inputs || inputs->type.rank != 2 || inputs->type.dtype != DT_I32)
        return "the model does not read rows of tokens (data.train = text or tokens)";
    if (evaluates_in_chunks(p))
        return "the plan computes logits in chunks: compile it with -s train.loss_chunks=1 to "
               "generate";
    if (!logits_find(p, &l))
        return "the loss is not a cross entropy, so there are no logits to choose from";
    FileType type = file_type_of(l.type.dtype);
    int64_t rows_read = l.state ? inputs->type.dim[0] : type_elements(&inputs->type);
    if (count_logits(p, &l) != rows_read * vocabulary_size(p, &l) || type == FT_COUNT ||
        !file_type_float(type))
        return "the model does not compute logits for each token of its inputs";
    return NULL;
}

int logits_check(const Plan *p, const char *mode, char *error) {
    const char *why = why_not(p);
    if (!why) return 0;
    return fail_with(error, EXIT_USER, "%s: %s", mode, why);
}

/* --generate: continues a text with the loaded weights, a token at a time.
 *
 * It has no program of its own: for each token the evaluation program runs over the text so far, as
 * sample 0 of its batch, and just before its cross entropy takes the logits, the row of the last
 * position is copied to the host. The model has to be causal, since what follows that position is
 * filled with zeros. When the text is longer than a sample, its last tokens are the sample.
 *
 * All ranks run the calls of an evaluation, for together they hold the weights; each has the text
 * as its own sample 0, and the rest of its batch is zeros. The first rank that computes logits, of
 * a pipeline the first one of the last stage, chooses and tells the others, and rank 0 prints; so
 * more ranks make larger models possible and nothing faster. Where ranks share out logits, by
 * positions or by ids, those that have some of the wanted row choose together.
 *
 * Temperature 0 takes the likeliest token, the first of several. Else token i has the chance
 * exp(logit i / temperature), and the random number is Philox of the seed and the token's number.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "op.h"
#include "random.h"
#include "run.h"

struct Generator {
    Rank *rank;
    uint32_t instr;       /* of the evaluation: its cross entropy */
    const PlanRole *last; /* the ranks that run it */
    const PlanValue *logits;
    DimPart ids;  /* of these the rank has logits */
    int64_t row;  /* whose logits are wanted */
    int64_t here; /* the same among the rank's rows; -1: it is not one of them */
    uint8_t *slot;
    uint64_t slot_bytes;
    int32_t *text; /* the whole of it, prompt included */
    int64_t n, prompt;
    void *raw;
    double *logit, *chance, *sums; /* sums: of chances, by part of the ids */
};

/* ---- what is needed, said before ranks open */

static int refuse_generation(char *error, const char *what) {
    snprintf(error, ERROR_BYTES, "--generate: %s", what);
    return EXIT_USER;
}

static const PlanSource *source_of(const Plan *p) {
    for (uint64_t i = 0; i < p->n_sources; i++)
        if (!strcmp(plan_string(p, p->sources[i].name), "train")) return &p->sources[i];
    return NULL;
}

static bool reads_bytes(const Plan *p) { return source_of(p)->kind == SOURCE_TEXT; }

static const PlanField *find_field(const Plan *p, const char *name) {
    for (uint64_t i = 0; i < p->n_fields; i++)
        if (!strcmp(plan_string(p, p->fields[i].name), name)) return &p->fields[i];
    return NULL;
}

/* The first cross entropy of the evaluation program, which belongs to the loss. */
static bool find_logits(const Plan *p, uint32_t *program, uint32_t *instr) {
    for (uint32_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        if (q->kind != PROGRAM_EVAL) continue;
        *program = i;
        for (*instr = q->first_instr; *instr < q->first_instr + q->n_instr; ++*instr)
            if (p->instrs[*instr].op == OP_cross_entropy ||
                p->instrs[*instr].op == op_info[OP_cross_entropy].part)
                return true;
    }
    return false;
}

static const PlanValue *logits_of(const Plan *p, uint32_t instr) {
    return &p->values[p->operands[p->instrs[instr].first_in]];
}

/* What the rank has of a dimension of the logits. */
static DimPart part_of_logits(const Plan *p, const PlanValue *logits, int dim, int64_t rank) {
    static const Placement whole;
    const Placement *placed = plan_placement(p, logits);
    Mesh mesh = plan_mesh(p);
    return placement_part(placed ? placed : &whole, &mesh, rank, &logits->type, dim);
}

static int64_t vocabulary_size(const Plan *p, const PlanValue *logits) {
    return part_of_logits(p, logits, logits->type.rank - 1, 0).whole;
}

/* On all ranks that share them out together. */
static int64_t count_logits(const Plan *p, const PlanValue *logits) {
    int64_t n = 1;
    for (int i = 0; i < logits->type.rank; i++) n *= part_of_logits(p, logits, i, 0).whole;
    return n;
}

/* Ids that can be chosen, and that can stand in a text. */
static int64_t token_count(const Run *run, const PlanValue *logits) {
    const Plan *p = run->plan;
    FieldRange range[64];
    CHECK(p->n_fields <= ARRAY_LEN(range));
    field_ranges(p, range);
    int64_t n = vocabulary_size(p, logits),
            below = range[find_field(p, "inputs") - p->fields].below;
    if (below) n = MIN(n, below);
    if (run->inputs.tokenizer) n = MIN(n, tokenizer_ids(run->inputs.tokenizer));
    return reads_bytes(p) ? MIN(n, 256) : n;
}

/* Numbers with spaces or commas between them. */
static int read_numbers(const char *text, int32_t *ids, int64_t *n, char *error) {
    for (*n = 0; *text;) {
        char *end;
        if (*text == ',' || isspace((unsigned char)*text)) {
            text++;
            continue;
        }
        long long id = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
        if (id < 0)
            return refuse_generation(error,
                                     "the model reads token ids: give them as numbers, such as "
                                     "--generate \"464 3290\", or give text and --tokenizer FILE");
        ids[(*n)++] = (int32_t)MIN(id, INT32_MAX);
        text = end;
    }
    return 0;
}

/* The prompt as ids; room for as many as it has bytes. */
static int read_prompt(const Run *run, const PlanValue *logits, int32_t *ids, int64_t *n,
                       char *error) {
    const char *text = run->options->generate;
    int64_t below = token_count(run, logits);
    int code = 0;
    *n = 0;
    if (run->inputs.tokenizer)
        code = tokenizer_encode(run->inputs.tokenizer, text, ids, n, error);
    else if (reads_bytes(run->plan))
        for (; text[*n]; ++*n) ids[*n] = (unsigned char)text[*n];
    else
        code = read_numbers(text, ids, n, error);
    for (int64_t i = 0; i < *n && !code; i++) {
        if (ids[i] < below) continue;
        snprintf(error, ERROR_BYTES,
                 "--generate: token %d is out of range: the model's ids are 0 to %lld", ids[i],
                 (long long)below - 1);
        code = EXIT_USER;
    }
    if (code || *n) return code;
    return refuse_generation(error, "the prompt must have at least one token");
}

static int open_tokenizer(Run *run, char *error) {
    if (!run->options->tokenizer) return 0;
    if (reads_bytes(run->plan))
        return refuse_generation(error, "the model reads bytes: leave out --tokenizer");
    return tokenizer_open(&run->inputs.tokenizer, run->options->tokenizer, error);
}

int generate_check(Run *run, char *error) {
    const Plan *p = run->plan;
    const PlanSource *s = source_of(p);
    uint32_t program, instr;
    bool rows =
        s && !s->corruption &&
        (s->kind == SOURCE_TEXT || s->kind == SOURCE_TOKENS || s->kind == SOURCE_SYNTHETIC_TOKENS);
    const PlanField *inputs = find_field(p, "inputs");
    if (!rows || !inputs || inputs->type.rank != 2 || inputs->type.dtype != DT_I32)
        return refuse_generation(error,
                                 "the model does not read rows of tokens (data.train = text or "
                                 "tokens)");
    if (!find_logits(p, &program, &instr))
        return refuse_generation(
            error, "the loss is not a cross entropy, so there are no logits to choose from");
    const PlanValue *logits = logits_of(p, instr);
    FileType type = file_type_of(logits->type.dtype);
    if (count_logits(p, logits) != type_elements(&inputs->type) * vocabulary_size(p, logits) ||
        type == FT_COUNT || !file_type_float(type))
        return refuse_generation(error,
                                 "the model does not compute logits for each token of its inputs");
    int64_t n;
    int32_t *ids = calloc(strlen(run->options->generate) + 1, sizeof *ids);
    if (!ids) fail_environment("no memory for the prompt");
    int code = open_tokenizer(run, error);
    if (!code) code = read_prompt(run, logits, ids, &n, error);
    free(ids);
    return code;
}

/* ---- a rank's part */

/* Does the rank choose for all? */
static bool chooses(const Generator *g) { return (uint32_t)g->rank->rank == g->last->first_rank; }

/* Takes the logits inside the evaluation. */
static int generator_before(void *of, uint32_t instr, char *error) {
    Generator *g = of;
    Rank *r = g->rank;
    if (instr != g->instr || g->here < 0 || (!chooses(g) && !g->logits->placed)) return 0;
    const PlanInstr *in = &r->run->plan->instrs[instr];
    const Type *t = &g->logits->type;
    uint64_t bytes = (uint64_t)(g->ids.count * dtype_bytes(t->dtype));
    uint64_t row_bytes = (uint64_t)(type_pitch(t) * dtype_bytes(t->dtype));
    const char *from = r->arena + g->logits->address + (uint64_t)g->here * row_bytes;
    int code = r->run->device->copy_out(r->context, in->stream, g->raw, from, bytes, error);
    return code ? code : rank_synchronize(r, error);
}

int generator_open(Rank *r) {
    const Plan *p = r->run->plan;
    const RunOptions *o = r->run->options;
    Generator *g = r->generator = calloc(1, sizeof *g);
    const PlanState *staging = plan_find_state(p, STATE_STAGING, -1);
    if (g) {
        g->rank = r;
        r->tap = (Tap){generator_before, g};
        uint32_t program;
        find_logits(p, &program, &g->instr);
        g->last = &p->roles[plan_stage_role(p, p->programs[program].stage)];
        g->logits = logits_of(p, g->instr);
        g->slot_bytes = staging ? (uint64_t)type_bytes(&staging->type) / 2 : 0;
        g->slot = calloc(1, MAX(g->slot_bytes, 1));
        g->text = calloc(strlen(o->generate) + (size_t)o->tokens, sizeof *g->text);
        g->ids = part_of_logits(p, g->logits, g->logits->type.rank - 1, r->rank);
        g->raw = calloc((size_t)g->ids.count, sizeof(double));
        g->logit = calloc((size_t)g->ids.count, sizeof *g->logit);
        g->chance = calloc((size_t)g->ids.count, sizeof *g->chance);
        g->sums = calloc((size_t)p->settings->ranks, sizeof *g->sums);
    }
    if (g && g->slot && g->text && g->raw && g->logit && g->chance && g->sums)
        return read_prompt(r->run, g->logits, g->text, &g->prompt, r->error);
    snprintf(r->error, ERROR_BYTES, "no memory for --generate");
    return EXIT_ENVIRONMENT;
}

void generator_close(Generator *g) {
    if (!g) return;
    free(g->slot);
    free(g->text);
    free(g->raw);
    free(g->logit);
    free(g->chance);
    free(g->sums);
    free(g);
}

/* The place of the wanted row, of sample 0, among the rank's rows; -1: it has others. */
static int64_t find_row(const Generator *g) {
    const Type *t = &g->logits->type;
    int64_t place = 0;
    if (rank_role(g->rank) != g->last) return -1;
    for (int i = 0; i + 1 < t->rank; i++) {
        DimPart part = part_of_logits(g->rank->run->plan, g->logits, i, g->rank->rank);
        int64_t at = (i + 2 == t->rank ? g->row : 0) - part.from;
        if (at < 0 || at >= part.count) return -1;
        place = place * t->dim[i] + at;
    }
    return place;
}

/* The rank's calls for one batch of an evaluation. */
static int run_evaluation(Rank *r) {
    const Plan *p = r->run->plan;
    uint32_t role = plan_role_of(p, r->rank);
    int code = 0;
    for (uint64_t i = 0; i < p->n_calls && !code; i++)
        if (p->calls[i].kind == PLAN_EVALUATION && p->calls[i].role == role)
            code = executor_run(r, p->calls[i].program, p->calls[i].slot, r->error);
    return code;
}

/* Runs the evaluation over the end of the text. */
static int run_model(Generator *g) {
    Rank *r = g->rank;
    const Run *run = r->run;
    const Plan *p = run->plan;
    const PlanField *inputs = find_field(p, "inputs");
    const PlanState *staging = plan_find_state(p, STATE_STAGING, -1);
    const PlanState *step = plan_find_state(p, STATE_STEP, -1);
    int64_t length = inputs->type.dim[1], n = MIN(g->n, length);
    double state[STEP_SLOTS];
    memset(g->slot, 0, g->slot_bytes);
    memcpy(g->slot + inputs->staging, g->text + (g->n - n), (size_t)n * sizeof *g->text);
    g->row = n - 1;
    g->here = find_row(g);
    step_state_fill(p->settings, MAX(run->steps.scheduled, 1), 0, 0, 0, 0, state);
    int code = step ? rank_copy_in(r, r->arena + step->address, state, sizeof state) : 0;
    if (!code && staging)
        code = rank_copy_in(r, r->arena + staging->address, g->slot, g->slot_bytes);
    if (!code) code = run_evaluation(r);
    return code ? code : rank_synchronize(r, r->error);
}

/* A number in [0, 1) for the token of that number. */
static double random_number(uint64_t seed, uint64_t token) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, word[4];
    philox4x32((uint32_t[]){(uint32_t)token, (uint32_t)(token >> 32), 0, 0}, key, word);
    return (double)((uint64_t)word[0] << 21 ^ word[1] >> 11) * 0x1p-53;
}

int64_t choose_token(const double *logit, int64_t n, double temperature, uint64_t seed,
                     uint64_t token, double *chance) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(logit[i]) && (best < 0 || logit[i] > logit[best])) best = i;
    if (best < 0 || temperature == 0) return best;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        chance[i] = isnan(logit[i]) ? 0 : exp((logit[i] - logit[best]) / temperature);
        sum += chance[i];
    }
    double left = random_number(seed, token) * sum;
    for (int64_t i = 0; i < n; i++) {
        left -= chance[i];
        if (left < 0) return i;
    }
    return best;
}

/* The rank's logits of ids that can be chosen; returns how many. */
static int64_t read_logits(Generator *g) {
    int64_t n = MIN(token_count(g->rank->run, g->logits) - g->ids.from, g->ids.count);
    FileType type = file_type_of(g->logits->type.dtype);
    if (g->here < 0) return 0;
    for (int64_t i = 0; i < n; i++)
        g->logit[i] = load_real((char *)g->raw + i * file_type_bytes(type), type);
    return MAX(n, 0);
}

/* A word that is larger for a larger number; 0 is less than that of any. */
static uint32_t ordered_word(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 1u << 31;
}

static float of_ordered_word(uint32_t word) {
    uint32_t bits = word >> 31 ? word & ~(1u << 31) : ~word;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The ranks' logits of the row: as choose_token chooses among those of one, with sums in the order
 * of the parts. All ranks come here; id: -1 if there are no numbers. */
static int choose_together(Generator *g, int64_t *id) {
    Rank *r = g->rank;
    const RunOptions *o = r->run->options;
    const Placement *placed = plan_placement(r->run->plan, g->logits);
    Mesh mesh = plan_mesh(r->run->plan);
    AxisSet axes = placed->cut[g->logits->type.rank - 1];
    int64_t n = read_logits(g), parts = mesh_extent(&mesh, axes);
    int64_t own = mesh_part(&mesh, r->rank, axes), in = -1;
    uint64_t best = 0, word = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(g->logit[i]))
            best = MAX(best, (uint64_t)ordered_word((float)g->logit[i]) << 32 |
                                 (UINT32_MAX - (uint32_t)(g->ids.from + i)));
    int code = rank_agree(r, best, &best);
    *id = best ? (int64_t)(UINT32_MAX - (uint32_t)best) : -1;
    if (code || !best || o->temperature == 0) return code;
    double sum = 0, all = 0, largest = of_ordered_word((uint32_t)(best >> 32));
    for (int64_t i = 0; i < n; i++) {
        g->chance[i] = isnan(g->logit[i]) ? 0 : exp((g->logit[i] - largest) / o->temperature);
        sum += g->chance[i];
    }
    double *sums = g->sums;
    for (int64_t k = 0; k < parts && !code; k++) {
        memcpy(&word, &sum, sizeof word); /* words of numbers that are not negative are ordered */
        code = rank_agree(r, k == own && n ? word : 0, &word);
        memcpy(&sums[k], &word, sizeof word);
        all += sums[k];
    }
    double left = random_number(o->sample_seed, (uint64_t)(g->n - g->prompt)) * all;
    for (int64_t k = 0; k < parts && in < 0; k++)
        if (left < sums[k])
            in = k;
        else
            left -= sums[k];
    uint64_t mine = 0;
    for (int64_t i = 0; i < n && in == own && !mine; i++) {
        left -= g->chance[i];
        if (left < 0) mine = (uint64_t)(g->ids.from + i) + 1;
    }
    if (!code) code = rank_agree(r, mine, &word);
    if (word) *id = (int64_t)word - 1;
    return code;
}

static int64_t choose_next(Generator *g) {
    const Run *run = g->rank->run;
    const RunOptions *o = run->options;
    int64_t n = read_logits(g);
    return choose_token(g->logit, n, o->temperature, o->sample_seed, (uint64_t)(g->n - g->prompt),
                        g->chance);
}

static int print_token(Generator *g, int32_t id) {
    const Run *run = g->rank->run;
    size_t n = 0;
    const char *bytes = run->inputs.tokenizer ? tokenizer_bytes(run->inputs.tokenizer, id, &n) : "";
    bool good = run->inputs.tokenizer    ? fwrite(bytes, 1, n, stdout) == n
                : reads_bytes(run->plan) ? putchar(id) != EOF
                                         : printf(g->n ? " %d" : "%d", id) > 0;
    if (good && !fflush(stdout)) return 0;
    snprintf(g->rank->error, ERROR_BYTES, "cannot write the text to standard output");
    return EXIT_ENVIRONMENT;
}

/* Rank 0 adds a token to the text and shows it. */
static int add_token(Generator *g, int32_t id) {
    rank_writes(g->rank, true);
    int code = g->rank->rank == 0 ? print_token(g, id) : 0;
    rank_writes(g->rank, false);
    g->text[g->n++] = id;
    return code;
}

/* What ranks tell each other, of which the largest counts: a token, or why there is none. */
enum { NO_TOKEN_YET, FIRST_TOKEN };
#define NO_NUMBERS (UINT64_MAX - 1)
#define INTERRUPTED UINT64_MAX

static int next_token(Generator *g, bool *stop) {
    Rank *r = g->rank;
    uint64_t mine = NO_TOKEN_YET, word;
    int64_t id = -1;
    int code = run_model(g);
    if (!code && g->logits->placed) code = choose_together(g, &id);
    if (code) return code;
    if (chooses(g)) {
        if (!g->logits->placed) id = choose_next(g);
        mine = id < 0 ? NO_NUMBERS : FIRST_TOKEN + (uint64_t)id;
    }
    if (atomic_load(&r->run->end.interrupted)) mine = INTERRUPTED;
    code = rank_agree(r, mine, &word);
    if (code) return code;
    *stop = word == INTERRUPTED;
    if (*stop) return 0;
    if (word != NO_NUMBERS) return add_token(g, (int32_t)(word - FIRST_TOKEN));
    snprintf(r->error, ERROR_BYTES, "the logits are not finite: no token can be chosen");
    return EXIT_TRAINING;
}

int generate_text(Generator *g, bool *stop) {
    Rank *r = g->rank;
    int code = 0;
    *stop = false;
    while (g->n < g->prompt && !code) code = add_token(g, g->text[g->n]);
    for (int64_t i = 0; i < r->run->options->tokens && !code && !*stop; i++)
        code = next_token(g, stop);
    if (r->rank == 0) printf("\n");
    return code;
}

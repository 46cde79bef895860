/* --generate: continues a text with the loaded weights, a token at a time.
 *
 * It has no program of its own: for each token the evaluation program runs over the text so far, as
 * sample 0 of its batch, and just before its cross entropy takes the logits, the row of the last
 * position is copied to the host. The model has to be causal, since what follows that position is
 * filled with zeros. When the text is longer than a sample, its last tokens are the sample.
 *
 * All ranks run the same calls, for together they hold the weights; each has the text as its own
 * sample 0, and the rest of its batch is zeros. Rank 0 chooses, prints, and tells the others, so
 * more ranks make larger models possible and nothing faster.
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
    uint32_t program, instr; /* of the evaluation; its cross entropy */
    const PlanValue *logits;
    int64_t row; /* whose logits are wanted */
    uint8_t *slot;
    uint64_t slot_bytes;
    int32_t *text; /* the whole of it, prompt included */
    int64_t n, prompt;
    void *raw;
    double *logit, *chance;
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
            if (p->instrs[*instr].op == OP_cross_entropy) return true;
    }
    return false;
}

static const PlanValue *logits_of(const Plan *p, uint32_t instr) {
    return &p->values[p->operands[p->instrs[instr].first_in]];
}

static int64_t vocabulary_size(const PlanValue *logits) {
    return logits->type.dim[logits->type.rank - 1];
}

/* Ids that can be chosen, and that can stand in a text. */
static int64_t token_count(const Run *run, const PlanValue *logits) {
    const Plan *p = run->plan;
    FieldRange range[64];
    CHECK(p->n_fields <= ARRAY_LEN(range));
    field_ranges(p, range);
    int64_t n = vocabulary_size(logits), below = range[find_field(p, "inputs") - p->fields].below;
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
    if (type_elements(&logits->type) != type_elements(&inputs->type) * vocabulary_size(logits) ||
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

/* Takes the logits inside the evaluation. */
static int generator_before(void *of, uint32_t instr, char *error) {
    Generator *g = of;
    Rank *r = g->rank;
    if (instr != g->instr || r->rank != 0) return 0;
    const PlanInstr *in = &r->run->plan->instrs[instr];
    const Type *t = &g->logits->type;
    uint64_t bytes = (uint64_t)(vocabulary_size(g->logits) * dtype_bytes(t->dtype));
    uint64_t row_bytes = (uint64_t)(type_pitch(t) * dtype_bytes(t->dtype));
    const char *from = r->arena + g->logits->address + (uint64_t)g->row * row_bytes;
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
        find_logits(p, &g->program, &g->instr);
        g->logits = logits_of(p, g->instr);
        g->slot_bytes = staging ? (uint64_t)type_bytes(&staging->type) / 2 : 0;
        g->slot = calloc(1, MAX(g->slot_bytes, 1));
        g->text = calloc(strlen(o->generate) + (size_t)o->tokens, sizeof *g->text);
        g->raw = calloc((size_t)vocabulary_size(g->logits), sizeof(double));
        g->logit = calloc((size_t)vocabulary_size(g->logits), sizeof *g->logit);
        g->chance = calloc((size_t)vocabulary_size(g->logits), sizeof *g->chance);
    }
    if (g && g->slot && g->text && g->raw && g->logit && g->chance)
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
    free(g);
}

/* Runs the evaluation program over the end of the text. */
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
    step_state_fill(p->settings, MAX(run->steps.scheduled, 1), 0, 0, 0, 0, state);
    int code = step ? rank_copy_in(r, r->arena + step->address, state, sizeof state) : 0;
    if (!code && staging)
        code = rank_copy_in(r, r->arena + staging->address, g->slot, g->slot_bytes);
    if (!code) code = executor_run(r, g->program, r->error);
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

static int64_t choose_next(Generator *g) {
    const Run *run = g->rank->run;
    const RunOptions *o = run->options;
    int64_t n = token_count(run, g->logits);
    FileType type = file_type_of(g->logits->type.dtype);
    for (int64_t i = 0; i < n; i++)
        g->logit[i] = load_real((char *)g->raw + i * file_type_bytes(type), type);
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

/* What rank 0 tells the others: a token, or why there is none. */
enum { NO_TOKEN_YET, INTERRUPTED, NO_NUMBERS, FIRST_TOKEN };

static int next_token(Generator *g, bool *stop) {
    Rank *r = g->rank;
    uint64_t mine = NO_TOKEN_YET, word;
    int code = run_model(g);
    if (code) return code;
    if (r->rank == 0) {
        int64_t id = atomic_load(&r->run->end.interrupted) ? -1 : choose_next(g);
        mine = atomic_load(&r->run->end.interrupted) ? INTERRUPTED
               : id < 0                              ? NO_NUMBERS
                                                     : FIRST_TOKEN + (uint64_t)id;
    }
    code = rank_agree(r, mine, &word);
    if (code) return code;
    *stop = word == INTERRUPTED;
    if (word >= FIRST_TOKEN) return add_token(g, (int32_t)(word - FIRST_TOKEN));
    if (*stop) return 0;
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

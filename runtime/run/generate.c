/* --generate and --prompts: continue texts with the loaded weights, a token at a time.
 *
 * They run the evaluation program. With train.cache it computes the logits after one token, and
 * keeps keys and values for the next one: all texts of a batch are at the same position, and one
 * that is still in its prompt chooses no token.
 *
 * Without, it runs for each token over the texts so far, as samples of its batch, and just before
 * its cross entropy takes the logits, the rows of the last positions are copied to the host. The
 * model has to be causal, since what follows such a position is filled with zeros. When a text is
 * longer than a sample, its last tokens are the sample.
 *
 * All ranks run the calls of an evaluation, for together they hold the weights. Prompts are dealt
 * out as samples of a batch are: --prompts continues as many at once as the batch of all ranks has
 * samples, --generate only sample 0 of the first rank. A rank that computes logits of a text
 * chooses and tells the others, and rank 0 prints. Where ranks share out logits, by positions or by
 * ids, those that have some of the wanted row choose together. The draws of a text depend on its
 * number among the prompts, not on the batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "generate.h"

/* A text that grows in a sample of the batch. */
typedef struct Text {
    const Prompt *prompt; /* NULL: the sample is not used */
    int32_t *ids;         /* prompt included */
    double *cost;         /* of --prompts: by id */
    int64_t n;
    int64_t row; /* where the rank has logits of the last token; -1: it has not */
    bool ready;  /* some rank has them */
    bool ended;  /* by an end token */
} Text;

struct Generator {
    Rank *rank;
    Logits logits;
    DimPart ids;      /* of these the rank has logits */
    int64_t position; /* train.cache: of the next call */
    uint8_t *slot;
    uint64_t slot_bytes;
    Text *text;            /* by sample of the batch of all ranks */
    int64_t n_text, first; /* first: of the rank's own samples */
    char *raw;             /* by own sample: a row of logits as the device has it */
    uint64_t row_bytes;
    double *logit, *chance;
};

/* Does the text get another token? */
static bool goes_on(const Generator *g, const Text *t) {
    return t->prompt && !t->ended && t->n - t->prompt->n < g->rank->run->options->tokens;
}

/* ---- a rank's part */

/* The rows of the rank's texts from where the logits lie. */
static int take_rows(Generator *g, int stream, const char *logits, char *error) {
    Rank *r = g->rank;
    int code = 0;
    uint64_t pitch = (uint64_t)(type_pitch(&g->logits.type) * dtype_bytes(g->logits.type.dtype));
    for (int64_t i = 0; i < r->run->plan->settings->local_batch && !code; i++) {
        const Text *own = &g->text[g->first + i];
        if (!own->ready || own->row < 0) continue;
        code = r->run->device->copy_out(r->context, stream, g->raw + (uint64_t)i * g->row_bytes,
                                        logits + (uint64_t)own->row * pitch, g->row_bytes, error);
    }
    return code ? code : rank_synchronize(r, error);
}

/* Takes the logits inside the evaluation. */
static int generator_before(void *of, uint32_t instr, char *error) {
    Generator *g = of;
    Rank *r = g->rank;
    if (instr != g->logits.instr || g->logits.state) return 0;
    return take_rows(g, r->run->plan->instrs[instr].stream, r->arena + g->logits.value->address,
                     error);
}

static int64_t longest_prompt(const Prompts *p) {
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) n = MAX(n, p->at[i].n);
    return n;
}

static void open_texts(Generator *g, Arena *a) {
    const Run *run = g->rank->run;
    Mesh mesh = plan_mesh(run->plan);
    AxisSet samples = mesh_sample_axes(&mesh);
    int64_t local = run->plan->settings->local_batch;
    int64_t most = longest_prompt(run->inputs.prompts) + run->options->tokens;
    g->n_text = local * mesh_extent(&mesh, samples);
    g->first = local * mesh_index(&mesh, g->rank->rank, samples);
    int64_t used = MIN(g->n_text, run->inputs.prompts->n);
    g->text = arena_array(a, Text, g->n_text);
    for (int64_t i = 0; i < used; i++) {
        g->text[i].ids = arena_array(a, int32_t, most);
        g->text[i].cost = arena_array(a, double, most);
    }
}

static void open_rows(Generator *g, Arena *a) {
    const Plan *p = g->rank->run->plan;
    g->slot_bytes = slot_bytes(p);
    g->slot = arena_alloc(a, g->slot_bytes);
    g->ids = logits_part(p, &g->logits, g->logits.type.rank - 1, g->rank->rank);
    g->row_bytes = (uint64_t)(g->ids.count * dtype_bytes(g->logits.type.dtype));
    g->raw = arena_alloc(a, (size_t)p->settings->local_batch * g->row_bytes);
    g->logit = arena_array(a, double, g->ids.count);
    g->chance = arena_array(a, double, g->ids.count);
}

void generator_open(Rank *r) {
    Generator *g = r->generator = arena_new_of(r->memory, Generator);
    g->rank = r;
    r->tap = (Tap){generator_before, g};
    logits_find(r->run->plan, &g->logits);
    open_texts(g, r->memory);
    open_rows(g, r->memory);
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

/* The ends of the rank's texts as samples; with train.cache the token at the position, and the
 * position itself in the first sample. */
static void fill_slot(Generator *g) {
    const Plan *p = g->rank->run->plan;
    const PlanField *inputs = logits_inputs(p);
    int64_t length = inputs->type.dim[1], at = g->position;
    int32_t *rows = (int32_t *)(void *)(g->slot + inputs->staging);
    bool cached = g->logits.state != NULL;
    memset(g->slot, 0, g->slot_bytes);
    for (int64_t i = 0; i < p->settings->local_batch; i++) {
        const Text *t = &g->text[g->first + i];
        int64_t n = MIN(t->n, length);
        if (cached && t->prompt && at < t->n) rows[i * length] = t->ids[at];
        if (!cached && goes_on(g, t))
            memcpy(rows + i * length, t->ids + (t->n - n), (size_t)n * sizeof *rows);
    }
    if (cached) rows[1] = (int32_t)at;
}

/* Of which texts the next call makes logits, and where the rank has them. */
static void find_rows(Generator *g) {
    const Plan *p = g->rank->run->plan;
    int64_t length = logits_inputs(p)->type.dim[1], local = p->settings->local_batch;
    for (int64_t i = 0; i < g->n_text; i++) {
        Text *t = &g->text[i];
        bool own = i >= g->first && i < g->first + local;
        t->ready = goes_on(g, t) && (!g->logits.state || g->position == t->n - 1);
        t->row = !own || !t->ready ? -1
                                   : logits_row(p, &g->logits, g->rank->rank, i - g->first,
                                                MIN(t->n, length) - 1);
    }
}

static int run_model(Generator *g) {
    Rank *r = g->rank;
    const Run *run = r->run;
    const Plan *p = run->plan;
    char *staging = rank_state(r, STATE_STAGING), *step = rank_state(r, STATE_STEP);
    double state[STEP_SLOTS];
    find_rows(g);
    fill_slot(g);
    step_state_fill(p->settings, MAX(run->steps.scheduled, 1), 0, 0, 0, 0, &run->loss_scale, state);
    int code = step ? rank_copy_in(r, step, state, sizeof state) : 0;
    if (!code && staging) code = rank_copy_in(r, staging, g->slot, g->slot_bytes);
    if (!code) code = run_evaluation(r);
    if (!code && g->logits.state && rank_role(r) == g->logits.role)
        code = take_rows(g, STREAM_COMPUTE, r->arena + g->logits.state->address, r->error);
    g->position++;
    return code ? code : rank_synchronize(r, r->error);
}

/* ---- choosing */

/* The rank's logits of ids that can be chosen; returns how many. */
static int64_t read_logits(Generator *g, int64_t text) {
    int64_t own = text - g->first;
    int64_t n = MIN(logits_tokens(g->rank->run, &g->logits) - g->ids.from, g->ids.count);
    FileType type = file_type_of(g->logits.type.dtype);
    if (own < 0 || own >= g->rank->run->plan->settings->local_batch || g->text[text].row < 0)
        return 0;
    const char *raw = g->raw + (uint64_t)own * g->row_bytes;
    for (int64_t i = 0; i < n; i++) g->logit[i] = load_real(raw + i * file_type_bytes(type), type);
    return MAX(n, 0);
}

/* What the rank has to choose from; no part in choosing: n is 0, and parts 1. */
static Candidates candidates(Generator *g, int64_t text) {
    Rank *r = g->rank;
    const Plan *p = r->run->plan;
    const Placement *placed = plan_placement(p, g->logits.value);
    Mesh mesh = plan_mesh(p);
    AxisSet axes = placed ? placed->cut[g->logits.type.rank - 1] : 0;
    return (Candidates){.logit = g->logit,
                        .chance = g->chance,
                        .n = read_logits(g, text),
                        .from = g->ids.from,
                        .part = mesh_part(&mesh, r->rank, axes),
                        .parts = mesh_extent(&mesh, axes),
                        .rank = r};
}

/* What ranks tell each other, of which the largest counts: whether a rank has logits of the text,
 * the token, or why there is none. */
enum { HAS_NO_LOGITS, HAS_NO_NUMBERS, FIRST_TOKEN };
#define INTERRUPTED UINT64_MAX

static int add_token(Generator *g, Text *t, int32_t id, bool given) {
    Rank *r = g->rank;
    t->ended = !given && prompts_end(r->run->inputs.prompts, id);
    if (t->ended) return 0;
    bool shows = r->rank == 0 && !r->run->options->prompts;
    rank_writes(r, true);
    int code = shows ? prompts_print_token(r->run, id, !t->n, r->error) : 0;
    rank_writes(r, false);
    t->ids[t->n++] = id;
    return code;
}

/* What the token cost, on all ranks. */
static int find_cost(Generator *g, const Candidates *c, Text *t, int64_t id) {
    double cost = 0;
    uint64_t word;
    int code = c->n || c->parts > 1 ? token_cost(c, id, &cost) : 0;
    memcpy(&word, &cost, sizeof word);
    if (!code) code = rank_agree(g->rank, c->n ? word : 0, &word);
    memcpy(&t->cost[t->n], &word, sizeof word);
    return code;
}

static int next_token(Generator *g, int64_t text, bool *stop) {
    Rank *r = g->rank;
    Text *t = &g->text[text];
    Candidates c = candidates(g, text);
    int64_t id = -1;
    uint64_t word;
    int code = 0;
    if (c.n || c.parts > 1)
        code = sample_token(&c, &r->run->options->sampling,
                            (uint64_t)(t->prompt - r->run->inputs.prompts->at),
                            (uint64_t)(t->n - t->prompt->n), &id);
    if (code) return code;
    uint64_t mine = id >= 0       ? FIRST_TOKEN + (uint64_t)id
                    : t->row >= 0 ? HAS_NO_NUMBERS
                                  : HAS_NO_LOGITS;
    if (atomic_load(&r->run->end.interrupted)) mine = INTERRUPTED;
    code = rank_agree(r, mine, &word);
    if (code) return code;
    *stop = word == INTERRUPTED;
    if (*stop) return 0;
    id = (int64_t)(word - FIRST_TOKEN);
    if (word >= FIRST_TOKEN && r->run->options->prompts) code = find_cost(g, &c, t, id);
    if (code) return code;
    if (word >= FIRST_TOKEN) return add_token(g, t, (int32_t)id, false);
    r->agrees = true;
    return fail_with(r->error, EXIT_TRAINING, "the logits are not finite: no token can be chosen");
}

/* What lies behind a position is multiplied by 0, and has to be a number. */
static int clear_cache(Generator *g) {
    Rank *r = g->rank;
    const Plan *p = r->run->plan;
    int code = 0;
    for (uint64_t i = 0; i < p->n_states && !code; i++) {
        const PlanState *s = &p->states[i];
        if (s->role != STATE_CACHE || !plan_has_state(p, s, plan_role_of(p, r->rank))) continue;
        void *zeros = calloc(1, (size_t)type_bytes(&s->type));
        if (!zeros) fail_environment("no memory for --generate");
        code = rank_copy_in(r, r->arena + s->address, zeros, (uint64_t)type_bytes(&s->type));
        if (!code) code = rank_synchronize(r, r->error);
        free(zeros);
    }
    return code;
}

/* Gives samples to prompts from that one on, and shows what --generate begins with. */
static int begin_texts(Generator *g, int64_t prompt) {
    const Prompts *p = g->rank->run->inputs.prompts;
    int code = prompt ? 0 : clear_cache(g);
    g->position = 0;
    for (int64_t i = 0; i < g->n_text; i++) {
        Text *t = &g->text[i];
        *t = (Text){.prompt = prompt + i < p->n ? &p->at[prompt + i] : NULL,
                    .ids = t->ids,
                    .cost = t->cost,
                    .row = -1};
        for (int64_t k = 0; t->prompt && k < t->prompt->n && !code; k++)
            code = add_token(g, t, t->prompt->ids[k], true);
    }
    return code;
}

/* A call, and a token more for each text that it makes logits of; more: one did not end. */
static int next_tokens(Generator *g, bool *more, bool *stop) {
    *more = false;
    for (int64_t i = 0; i < g->n_text; i++) *more |= goes_on(g, &g->text[i]);
    int code = *more ? run_model(g) : 0;
    for (int64_t i = 0; i < g->n_text && !code && *more && !*stop; i++)
        if (g->text[i].ready) code = next_token(g, i, stop);
    return code;
}

/* Rank 0: what stands in the texts. */
static int print_texts(Generator *g) {
    const Run *run = g->rank->run;
    int code = 0;
    if (g->rank->rank) return 0;
    if (!run->options->prompts) printf("\n");
    rank_writes(g->rank, true);
    for (int64_t i = 0; i < g->n_text && run->options->prompts && !code; i++) {
        const Text *t = &g->text[i];
        if (!t->prompt) continue;
        code = prompts_print_text(run, t->prompt, t->ids + t->prompt->n, t->cost + t->prompt->n,
                                  t->n - t->prompt->n, t->ended, g->rank->error);
    }
    rank_writes(g->rank, false);
    return code;
}

int generate_text(Generator *g, bool *stop) {
    const Run *run = g->rank->run;
    int code = 0;
    *stop = false;
    for (int64_t p = 0; p < run->inputs.prompts->n && !code && !*stop; p += g->n_text) {
        bool more = true;
        code = begin_texts(g, p);
        while (!code && more && !*stop) code = next_tokens(g, &more, stop);
        if (!code || !run->options->prompts) {
            int failed = print_texts(g);
            code = code ? code : failed;
        }
    }
    return code;
}

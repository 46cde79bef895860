/* What a checkpoint of a run contains: the states of its plan, and the settings that a later run
 * compares with its own.
 *
 * Data files are compared by size and by excerpts of their bytes: reading a large data set as a
 * whole would take longer than many runs do.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "op.h"
#include "saving.h"

typedef struct SettingsBuilder {
    const Plan *p;
    Arena *a;
    RunContents *out;
} SettingsBuilder;

/* ---- settings */

enum { MOST_SETTINGS = 32 };

/* Settings that a later run must not change; it may change all others. */
static const char *const same_settings[] = {"train.batch", "train.seed", "train.optimizer",
                                            "data.train",  "data.order", "data.length"};

bool setting_must_stay(const char *key) {
    bool stays = false;
    for (size_t i = 0; i < ARRAY_LEN(same_settings); i++) stays |= !strcmp(same_settings[i], key);
    return stays;
}

__attribute__((format(printf, 3, 4))) static void add_setting(SettingsBuilder *m, const char *key,
                                                              const char *format, ...) {
    CkContents *c = &m->out->c;
    va_list args;
    va_start(args, format);
    CHECK(c->n_setting < MOST_SETTINGS);
    c->setting[c->n_setting++] = (CkSetting){key, arena_vprintf(m->a, format, args)};
    va_end(args);
}

enum { EXCERPTS = 64, EXCERPT_BYTES = 4096 };

typedef struct FileHash {
    const MappedFile *file;
    uint64_t hash;
} FileHash;

/* For mapped_read: adds excerpts of the file, spread evenly over it, to the hash. */
static void hash_excerpts(void *user) {
    FileHash *s = user;
    uint64_t size = s->file->size, n = MIN(size, (uint64_t)EXCERPT_BYTES);
    for (uint64_t i = 0; i < EXCERPTS && n; i++) {
        uint64_t at = (uint64_t)((double)(size - n) / (EXCERPTS - 1) * (double)i);
        s->hash = hash_bytes(s->file->bytes + MIN(at, size - n), n, s->hash);
    }
}

/* A hash of the source, as the plan has it but without its path, and of its files: it is the same
 * if the training samples are. */
static uint64_t source_hash(const Dataset *d, uint64_t *bytes, int *code, char *error) {
    const PlanSource *s = d->source;
    PlanSource what = *s;
    what.name = what.path = 0;
    what.first_field = 0;
    FileHash hashing = {.hash = hash_bytes(&what, sizeof what, 0)};
    *bytes = 0;
    for (uint32_t i = 0; i < s->n_field; i++)
        hashing.hash ^= (uint64_t)d->plan->source_fields[s->first_field + i].classes;
    for (uint32_t i = 0; i < d->n_file && !*code; i++) {
        hashing.file = &d->file[i].map;
        hashing.hash = hash_bytes(&d->file[i].map.size, sizeof d->file[i].map.size, hashing.hash);
        *bytes += d->file[i].map.size;
        if (!mapped_read(hash_excerpts, &hashing)) *code = mapped_lost(&d->file[i].map, error);
    }
    return hashing.hash;
}

static int add_source(SettingsBuilder *m, const char *key, const Dataset *d, char *error) {
    if (!d) return 0;
    uint64_t bytes;
    int code = 0;
    uint64_t hash = source_hash(d, &bytes, &code, error);
    add_setting(m, key, "%s, %" PRId64 " samples, %" PRIu64 " bytes, hash %016" PRIx64,
                word_of(&words_SourceKind, d->source->kind), d->samples, bytes, hash);
    return code;
}

/* The value of that name among the plan's facts; 0: there is none. */
static uint64_t model_fact(const Plan *p, const char *name) {
    for (uint64_t i = 0; i < p->n_facts; i++)
        if (!strcmp(plan_string(p, p->facts[i].name), name)) return p->facts[i].value;
    return 0;
}

static const char *real_fact(const Plan *p, const char *name, char text[40]) {
    uint64_t bits = model_fact(p, name);
    double x;
    memcpy(&x, &bits, sizeof x);
    return double_text(x, text);
}

/* What forward computes, however many ranks share the samples: ops, which values they read, and
 * their attributes, except a table's row, which comes first, and sizes. */
static uint64_t forward_hash(const Plan *p) {
    const PlanModelProgram *program = &p->model_programs[0];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < program->n_node; i++) {
        const PlanNode *n = &p->nodes[program->first_node + i];
        uint32_t row = op_info[n->op].attrs & A_index ? 1 : 0, words = n->n_word - n->rank - row;
        hash = hash_bytes(op_info[n->op].name, strlen(op_info[n->op].name), hash);
        hash = hash_bytes(&p->node_operands[n->first_in], n->n_in * sizeof(uint32_t), hash);
        hash = hash_bytes(&p->node_words[n->first_word + row], words * sizeof(uint64_t), hash);
    }
    return hash;
}

/* Parameters that have a learning rate or decay of their own. */
static void add_groups(SettingsBuilder *m) {
    const Plan *p = m->p;
    uint64_t hash = 0, n = 0;
    for (uint64_t i = 0; i < p->n_params; i++) {
        const PlanParam *q = &p->params[i];
        const char *name = plan_string(p, q->name);
        const double own[] = {plan_lr_factor(q), plan_decay(q, -1)};
        if (!(q->flags & (PARAM_GROUPED | PARAM_NO_DECAY))) continue;
        hash = hash_bytes(name, strlen(name), hash_bytes(own, sizeof own, hash));
        n++;
    }
    if (n)
        add_setting(m, "train.groups", "%" PRIu64 " of %" PRIu64 " parameters, hash %016" PRIx64, n,
                    p->n_params, hash);
    else
        add_setting(m, "train.groups", "none");
}

/* The numbers that optimizers have besides learning rate, betas and decay. */
static void add_constants(SettingsBuilder *m) {
    const Plan *p = m->p;
    const PlanSettings *s = p->settings;
    char number[3][40];
    add_setting(m, "train.momentum", "%s%s", real_fact(p, "momentum", number[0]),
                model_fact(p, "nesterov") ? " (nesterov)" : "");
    add_setting(m, "train.eps", "(%s, %s, %s)", real_fact(p, "eps", number[0]),
                real_fact(p, "eps2", number[1]), real_fact(p, "limit", number[2]));
    if (model_fact(p, "steps"))
        add_setting(m, "train.muon", "(ns_steps = %" PRIu64 ", adjust_lr = %s)",
                    model_fact(p, "steps"),
                    word_of(&words_MuonRate, (uint32_t)model_fact(p, "rate")));
    add_setting(m, "train.clip_value", "%s", real_fact(p, "clip_value", number[0]));
    add_setting(m, "shard.scale", "%s of the mean",
                double_text(s->gain == 0 ? 1 : s->gain, number[0]));
    add_setting(m, "shard.gather", "%s", word_of(&words_DType, s->gather_dtype));
    add_setting(m, "model.forward", "hash %016" PRIx64, forward_hash(p));
}

static void add_optimizer(SettingsBuilder *m) {
    const PlanSettings *s = m->p->settings;
    double clip = 0, decay = 0;
    int64_t norm = 0;
    char number[6][40];
    for (uint64_t i = 0; i < m->p->n_instrs; i++) {
        const PlanInstr *in = &m->p->instrs[i];
        if (in->op == OP_step_scale) {
            clip = in->attr.clip;
            norm = in->attr.clip_norm;
        }
        decay = MAX(decay, in->attr.weight_decay);
    }
    add_setting(m, "train.optimizer", "%s", word_of(&words_OptimizerKind, s->optimizer));
    add_setting(m, "train.lr", "%s", double_text(s->lr, number[0]));
    add_setting(m, "train.schedule", "%s(warmup = %s, decay = %s, final = %s)",
                word_of(&words_ScheduleKind, s->schedule), double_text(s->warmup, number[0]),
                double_text(s->decay, number[1]), double_text(s->final, number[2]));
    add_setting(m, "train.betas", "(%s, %s, %s%s%s)", double_text(s->beta1, number[3]),
                double_text(s->beta2, number[4]), double_text(s->beta2_decay, number[5]),
                s->beta3 > 0 ? ", " : "", s->beta3 > 0 ? double_text(s->beta3, number[1]) : "");
    add_setting(m, "train.weight_decay", "%s", double_text(decay, number[0]));
    const char *const norms[] = {" of the largest element", "", " of the 1-norm", "",
                                 " of the 3-norm"};
    add_setting(m, "train.clip", "%s%s", double_text(clip, number[0]), norms[norm - NORM_INF]);
}

static int add_settings(SettingsBuilder *m, const Run *run, char *error) {
    const PlanSettings *s = m->p->settings;
    const PlanGroup *g = m->p->groups; /* of one precision, all of them */
    m->out->c.setting = arena_array(m->a, CkSetting, MOST_SETTINGS);
    add_setting(m, "train.batch", "%" PRId64, s->batch);
    add_setting(m, "train.seed", "%" PRIu64, s->seed);
    add_optimizer(m);
    add_groups(m);
    add_constants(m);
    add_setting(m, "train.steps", "%" PRId64, run->steps.scheduled);
    add_setting(m, "train.accumulate", "%" PRId64, s->micro_batches);
    if (m->p->n_groups)
        add_setting(m, "train.precision", "%s(master = %s, reduce = %s)",
                    word_of(&words_DType, g->compute_dtype), word_of(&words_DType, g->master_dtype),
                    word_of(&words_DType, g->reduce_dtype));
    char number[3][40];
    if (s->loss_scale > 0)
        add_setting(m, "train.loss_scale", "(%s, %s, %s, %" PRId64 ")",
                    double_text(s->loss_scale, number[0]), double_text(s->loss_growth, number[1]),
                    double_text(s->loss_backoff, number[2]), s->loss_interval);
    add_setting(m, "train.eval_every", "%" PRId64, s->eval_every);
    add_setting(m, "train.eval_steps", "%" PRId64, s->eval_steps);
    add_setting(m, "train.on_nan", "%s", word_of(&words_OnNan, s->on_nan));
    add_setting(m, "data.order", "%s", word_of(&words_DataOrder, s->order));
    add_setting(m, "data.length", "%" PRId64, s->length);
    add_setting(m, "ranks", "%d", run->launch.ranks);
    add_setting(m, "device", "%s", run->device->name);
    int code = add_source(m, "data.train", run->inputs.train, error);
    return code ? code : add_source(m, "data.val", run->inputs.val, error);
}

int run_contents_make(const Run *run, Arena *a, RunContents *out, char *error) {
    const Plan *p = run->plan;
    SettingsBuilder m = {.p = p, .a = a, .out = out};
    *out = (RunContents){.state = arena_array(a, const PlanState *, p->n_states + 1)};
    ck_plan_states(&out->c, p, a, out->state);
    out->c.form = (CheckpointForm)run->checkpoint.form;
    out->c.most_file = run->checkpoint.max_file;
    int code = add_settings(&m, run, error);
    return code ? code : ck_files(&out->c, a, error);
}

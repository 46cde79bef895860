/* Data sources into settings, and the fields of one batch into the graph.
 *
 * Token sources give inputs and targets, i32[B, T]. NumPy sources give the fields that they name;
 * their headers are opened for dtype and shape. Synthetic sources state both. B is the local batch
 * of one program call.
 *
 * mlm and span_corruption wrap a token source. How many tokens a sample has, how many of them are
 * masked or taken out, and in how many spans, is the same for all samples, so that shapes are known
 * here. The lengths are those of T5's data: as many raw tokens as give a source of `length` tokens.
 */
#include <math.h>
#include <string.h>

#include "rules.h"
#include "signature.h"

static bool read_text(Elaboration *e, const KeyValue *s, const ExprValue *v, DataSource *out) {
    out->from = value_number(call_argument(v, "from"));
    out->to = value_number(call_argument(v, "to"));
    return out->from < out->to ||
           setting_error(e->model, s, "from = %g and to = %g must satisfy 0 <= from < to <= 1",
                         out->from, out->to);
}

/* x = [784] is a field of real numbers, y = 10 one of classes. */
static bool read_synthetic(Elaboration *e, const KeyValue *s, const ExprValue *v, DataSource *out) {
    for (uint32_t i = 0; i + 2 < v->n_items; i++) { /* the last two are samples and seed */
        const ExprValue *shape = v->items[i].value;
        DataFieldFile f = {.name = v->items[i].name, .path = ""};
        int64_t dim[MAX_RANK] = {out->samples};
        uint32_t n = shape->kind == VALUE_LIST ? shape->n_items : 0;
        if (shape->kind == VALUE_INT) f.classes = shape->integer;
        if (n >= MAX_RANK)
            return setting_error(
                e->model, s, "field %s has %u axes; at most %d are allowed besides the batch axis",
                f.name, n, MAX_RANK - 1);
        for (uint32_t k = 0; k < n; k++) dim[k + 1] = shape->items[k].value->integer;
        f.type = type_of(f.classes ? DT_I32 : DT_F32, (int)n + 1, dim);
        vec_push(e->kept, &out->fields, f);
    }
    return true;
}

static bool read_plain(Elaboration *e, const KeyValue *s, const ExprValue *v, DataSource *out) {
    int kind = word_find(&words_SourceKind, v->text);
    CHECK(kind >= 0);
    out->kind = (SourceKind)kind;
    switch (out->kind) {
    case SOURCE_TEXT: out->path = call_argument(v, "path")->text; return read_text(e, s, v, out);
    case SOURCE_TOKENS: out->path = call_argument(v, "path")->text; return true;
    case SOURCE_NPY:
        for (uint32_t i = 0; i < v->n_items; i++) {
            DataFieldFile f = {.name = v->items[i].name, .path = v->items[i].value->text};
            vec_push(e->kept, &out->fields, f);
        }
        return true;
    case SOURCE_SYNTHETIC_TOKENS: out->vocab = call_argument(v, "vocab")->integer;
    /* fall through */
    case SOURCE_SYNTHETIC:
        out->samples = call_argument(v, "samples")->integer;
        out->seed = (uint64_t)call_argument(v, "seed")->integer;
        return out->kind == SOURCE_SYNTHETIC_TOKENS || read_synthetic(e, s, v, out);
    case SOURCE_KINDS: break;
    }
    BUG("data source %s", v->text);
}

/* mlm(tokens(..), ..) and span_corruption(tokens(..), ..) */
static bool read_denoising(Elaboration *e, const KeyValue *s, DataSource *out) {
    const ExprValue *v = &s->value, *inner = call_argument(v, "source");
    int kind = word_find(&words_SourceKind, inner->text);
    out->denoising = (Corruption)word_find(&words_Corruption, v->text);
    if (kind < 0 || source_has_fields((SourceKind)kind))
        return setting_error(
            e->model, s, "`%s` takes a source of tokens: text, tokens, synthetic_tokens", v->text);
    out->rate = value_number(call_argument(v, "rate"));
    out->draw = (uint64_t)call_argument(v, "seed")->integer;
    if (out->denoising == CORRUPTION_SPANS) {
        out->mean_span = value_number(call_argument(v, "span"));
        out->mask = call_argument(v, "mark")->integer;
        out->end = call_argument(v, "end")->integer;
    } else {
        out->mask = call_argument(v, "mask")->integer;
        out->words = call_argument(v, "vocab")->integer; /* none: 0 */
    }
    return read_plain(e, s, inner, out);
}

static bool read_source(Elaboration *e, const KeyValue *s, DataSource *out) {
    const ExprValue *v = &s->value;
    if (v->kind != VALUE_CALL) return false;
    out->present = true;
    out->span = v->span;
    out->to = 1;
    return word_find(&words_Corruption, v->text) > CORRUPTION_NONE ? read_denoising(e, s, out)
                                                                   : read_plain(e, s, v, out);
}

static void add_field(Elaboration *e, const char *name, const Type *type, uint64_t *staging) {
    Field f = {.name = name, .type = *type, .staging = *staging, .of = NO_INDEX};
    *staging = align_up(*staging + (uint64_t)type_bytes(type), 64);
    vec_push(e->graph->arena, &e->graph->fields, f);
}

/* What a sample of `raw` tokens becomes. */
typedef struct SpanLengths {
    int64_t noise, spans, source, target;
} SpanLengths;
static SpanLengths span_lengths(const DataSource *d, int64_t raw) {
    SpanLengths n;
    n.noise = (int64_t)floor((double)raw * d->rate + 0.5);
    n.noise = MAX(MIN(n.noise, raw - 1), (int64_t)1);
    n.spans = (int64_t)floor((double)n.noise / d->mean_span + 0.5);
    n.spans = MAX(MIN(n.spans, MIN(n.noise, raw - n.noise)), (int64_t)1);
    n.source = raw - n.noise + n.spans + 1; /* a mark for each span, and the end */
    n.target = n.noise + n.spans + 1;
    return n;
}

/* Computes raw, noise and spans for samples of `length` tokens; *target: the length of the other
 * fields. */
static bool size_denoising(Elaboration *e, const KeyValue *setting, int64_t length, DataSource *d,
                           int64_t *target) {
    *target = d->raw = length;
    d->noise = MAX((int64_t)floor((double)length * d->rate + 0.5), (int64_t)1);
    if (d->denoising == CORRUPTION_MLM) return true;
    d->raw = 2; /* one more raw token makes the source as long or one longer */
    for (int64_t more = length; more > 0; more /= 2)
        while (span_lengths(d, d->raw + more).source <= length) d->raw += more;
    SpanLengths n = span_lengths(d, d->raw);
    d->noise = n.noise;
    d->spans = n.spans;
    *target = n.target;
    if (n.source != length)
        return setting_error(e->model, setting, "span_corruption needs data.length above %lld",
                             (long long)length);
    return n.spans <= d->mask + 1 ||
           setting_error(e->model, setting,
                         "mark = %lld leaves too few ids for %lld spans: it must be at least %lld",
                         (long long)d->mask, (long long)n.spans, (long long)n.spans - 1);
}

static bool declare_denoising(Elaboration *e, const Type *type, uint64_t *staging) {
    static const char *const masked[] = {"inputs", "segments", "mask", "labels"};
    static const char *const spans[] = {"source", "target", "labels"};
    RunSettings *s = e->settings;
    bool mlm = s->train.denoising == CORRUPTION_MLM;
    const KeyValue *setting = model_setting(e->model, "data", "train");
    Type rest = *type;
    if (!size_denoising(e, setting, s->length, &s->train, &rest.dim[1])) return false;
    for (size_t k = 0; k < (mlm ? ARRAY_LEN(masked) : ARRAY_LEN(spans)); k++)
        add_field(e, mlm ? masked[k] : spans[k], k ? &rest : type, staging);
    return true;
}

static bool declare_tokens(Elaboration *e, uint64_t *staging) {
    RunSettings *s = e->settings;
    int64_t dims[2] = {s->local_batch, s->length};
    if (s->length < 1)
        return diag_report(e->model->ds, E_missing_setting, s->train.span,
                           "set the number of tokens per sample, for example -s data.length=128",
                           "data.length is needed");
    if (dims[0] > INT32_MAX / dims[1])
        return diag_report(e->model->ds, E_batch_size,
                           model_setting(e->model, "train", "batch")->span,
                           "use more ranks, a larger train.accumulate, or a smaller train.batch or "
                           "data.length",
                           "a micro-batch of %lld sample%s of %lld tokens is too large for a rank",
                           (long long)dims[0], dims[0] == 1 ? "" : "s", (long long)dims[1]);
    Type type = type_of(DT_I32, 2, dims);
    if (s->train.denoising) return declare_denoising(e, &type, staging);
    add_field(e, "inputs", &type, staging);
    add_field(e, "targets", &type, staging);
    return true;
}

/* Types of a source's fields, all samples; the first axis of NumPy files must agree. */
static bool open_arrays(Elaboration *e, const KeyValue *setting, const DataSource *source,
                        Type *types) {
    bool right = true;
    for (uint32_t i = 0; i < source->fields.n; i++) {
        bool missing = false;
        types[i] = source->fields.at[i].type;
        if (source->kind == SOURCE_SYNTHETIC) continue;
        const DataFieldFile *f = &source->fields.at[i];
        Span at = setting->value.items[i].value->span;
        const char *problem = npy_header(f->path, &types[i], e->model->arena, &missing);
        if (!problem && types[0].dim[0] > 0 && types[i].dim[0] != types[0].dim[0])
            problem = arena_printf(e->model->arena, "it has %lld samples, %s has %lld",
                                   (long long)types[i].dim[0], source->fields.at[0].path,
                                   (long long)types[0].dim[0]);
        else if (!problem && types[i].dim[0] < 1)
            problem = "it has no samples";
        for (int k = 1; !problem && k < types[i].rank; k++)
            if (types[i].dim[k] < 1) problem = "one of its axes has size 0";
        if (!problem) continue;
        diag_report(e->model->ds, missing ? E_cannot_read : E_array_file, at,
                    missing ? "data paths are relative to the working directory" : NULL,
                    "cannot %s %s: %s", missing ? "read" : "use", f->path, problem);
        right = false;
    }
    return right;
}

static bool is_small(const Type *t) {
    int64_t elements = 1;
    for (int k = 0; k < t->rank; k++)
        if (__builtin_mul_overflow(elements, t->dim[k], &elements) || elements > INT32_MAX)
            return false;
    return true;
}

static bool declare_arrays(Elaboration *e, uint64_t *staging) {
    RunSettings *s = e->settings;
    const KeyValue *train = model_setting(e->model, "data", "train");
    Type *types = arena_array(e->model->arena, Type, s->train.fields.n + 1);
    if (!open_arrays(e, train, &s->train, types)) return false;
    s->length = 0;
    if (s->train.fields.n && types[0].dim[0] < s->batch)
        diag_report(e->model->ds, W_few_samples, train->value.span, NULL,
                    "a batch of %lld from only %lld samples: some repeat within a step",
                    (long long)s->batch, (long long)types[0].dim[0]);
    for (uint32_t i = 0; i < s->train.fields.n; i++) {
        types[i].dim[0] = s->local_batch;
        if (!is_small(&types[i]))
            return setting_error(e->model, train,
                                 "a micro-batch of field `%s` is too large for a rank",
                                 s->train.fields.at[i].name);
        add_field(e, s->train.fields.at[i].name, &types[i], staging);
    }
    return true;
}

/* The validation source must give the same fields as the training source. */
static bool check_validation(Elaboration *e) {
    RunSettings *s = e->settings;
    const KeyValue *setting = model_setting(e->model, "data", "val");
    DataSource given = s->val;
    if (!given.present) return true;
    int64_t target = 0, wanted = 0;
    bool alike = source_has_fields(given.kind) == source_has_fields(s->train.kind) &&
                 given.denoising == s->train.denoising;
    if (alike && given.denoising) {
        if (!size_denoising(e, setting, s->length, &s->val, &target)) return false;
        wanted = e->graph->fields.at[e->graph->fields.n - 1].type.dim[1];
    }
    if (!alike || target != wanted)
        return setting_error(e->model, setting, "data.val must give the same fields as data.train");
    if (!source_has_fields(given.kind)) return true;
    Type *types = arena_array(e->model->arena, Type, given.fields.n + 1);
    if (!open_arrays(e, setting, &given, types)) return false;
    s->val.fields.n = 0;
    s->val.fields.capacity = 0;
    for (uint32_t i = 0; i < e->graph->fields.n; i++) {
        const Field *f = &e->graph->fields.at[i];
        uint32_t k = 0;
        while (k < given.fields.n && strcmp(given.fields.at[k].name, f->name)) k++;
        if (k == given.fields.n)
            return setting_error(e->model, setting,
                                 "data.val lacks field `%s`, which data.train has", f->name);
        types[k].dim[0] = f->type.dim[0];
        if (!type_equal(&types[k], &f->type))
            return setting_error(e->model, setting,
                                 "data.val gives field `%s` as %s per batch, but data.train as %s",
                                 f->name, type_text(e->model->arena, &types[k]),
                                 type_text(e->model->arena, &f->type));
        vec_push(e->kept, &s->val.fields, given.fields.at[k]);
    }
    return given.fields.n == e->graph->fields.n ||
           setting_error(e->model, setting, "data.val gives fields that data.train does not have");
}

bool declare_fields(Elaboration *e) {
    RunSettings *s = e->settings;
    const KeyValue *train = model_setting(e->model, "data", "train");
    const KeyValue *val = model_setting(e->model, "data", "val");
    uint64_t staging = 0;
    if (train->value.kind == VALUE_NONE)
        return diag_report(e->model->ds, E_missing_setting, (Span){0},
                           "for example data { train = tokens(\"train_*.bin\"); length = 128 }",
                           "data.train is needed");
    if (!read_source(e, train, &s->train)) return false;
    if (val->value.kind == VALUE_CALL && !read_source(e, val, &s->val)) return false;
    bool right = source_has_fields(s->train.kind) ? declare_arrays(e, &staging)
                                                  : declare_tokens(e, &staging);
    if (!right || !check_validation(e)) return false;
    int64_t bytes[2] = {2, (int64_t)staging}, step = STEP_SLOTS, exact = EXACT_WORDS;
    Graph *g = e->graph;
    graph_add_state(g, STATE_STEP, "step", type_of(DT_F64, 1, &step), NO_INDEX);
    graph_add_state(g, STATE_STAGING, "staging", type_of(DT_U8, 2, bytes), NO_INDEX);
    graph_add_state(g, STATE_METRIC, "loss", type_of(DT_I64, 1, &exact), NO_INDEX);
    if (!model_setting(e->model, "train", "cache")->value.boolean)
        graph_add_state(g, STATE_METRIC, "eval.loss", type_of(DT_I64, 1, &exact), NO_INDEX);
    return true;
}

/* ---- the ids that mlm and span_corruption write themselves (marks, masks, random tokens) ----
 * against those that the model can take from the batch: a plan with larger ids could never run.
 * Ids in files are checked when they are read. */

/* The batch field that a value is, directly or reshaped; or NO_INDEX. */
static int32_t field_of(const Graph *g, ValueId value) {
    const Op *def = value_maker(g, value);
    while (def->kind == OP_reshape) def = value_maker(g, def->in[0]);
    return def->kind == OP_field ? (int32_t)def->attr->index : NO_INDEX;
}

/* Lowers *below to the limit of the indices that the op takes from the field. */
static void lower_id_limit(const Graph *g, const Op *op, int32_t field, int64_t *below) {
    const Signature *s = op_signature(op->kind);
    Type few[FEW_TYPES];
    const Type *types = op_types(g, op, few);
    for (uint32_t i = 0; i < op->n_in && i < s->n_in; i++) {
        if (s->in[i].below < 0 || field_of(g, op->in[i]) != field) continue;
        int64_t limit = op_index_limit(op->kind, op->n_in, types, i);
        if (limit) *below = MIN(*below, limit);
    }
}

/* Of the fields that the source writes its ids into, the one with the lowest limit, *below, in
 * the model. */
static uint32_t least_field(const Graph *g, Corruption denoising, int64_t *below) {
    uint32_t fields = denoising == CORRUPTION_SPANS ? g->fields.n : 1, least = 0;
    *below = INT64_MAX;
    for (uint32_t k = 0; k < fields; k++) {
        int64_t before = *below;
        for (uint32_t i = 0; i < g->ops.n; i++) lower_id_limit(g, &g->ops.at[i], (int32_t)k, below);
        if (*below < before) least = k;
    }
    return least;
}

static bool check_source(Elaboration *e, const char *key, Corruption denoising) {
    static const struct {
        const char *name;
        int64_t over; /* how far the argument is above its largest id */
    } ids[] = {{"mask", 0}, {"vocab", 1}, {"mark", 0}, {"end", 0}};
    const KeyValue *s = model_setting(e->model, "data", key);
    int64_t below;
    uint32_t field = least_field(e->graph, denoising, &below);
    bool right = true;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const ExprValue *v = value_item(&s->value, ids[i].name);
        if (!v || v->kind != VALUE_INT || v->integer - ids[i].over < below) continue;
        diag_report(e->model->ds, E_contradiction, v->span.file ? v->span : s->value.span, NULL,
                    "%s = %lld, but the model takes ids from 0 to %lld in field %s", ids[i].name,
                    (long long)v->integer, (long long)below - 1, e->graph->fields.at[field].name);
        right = false;
    }
    return right;
}

bool check_denoising_ids(Elaboration *e) {
    Corruption train = e->settings->train.denoising;
    Corruption val = e->settings->val.denoising;
    bool right = !train || check_source(e, "train", train);
    return right & (!val || check_source(e, "val", val));
}

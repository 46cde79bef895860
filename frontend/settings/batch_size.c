/* Batch, micro-batches and ranks: batch = samples of a rank and micro-batch x accumulate x ranks.
 *
 * A model file gives batch and accumulate. A configuration file of DeepSpeed may give the samples
 * of a rank and micro-batch; then batch or accumulate is derived. Where both are given, -s counts
 * more than the file's samples of a rank.
 */
#include <string.h>

#include "rules.h"

static bool is_option(const KeyValue *s) { return s->expression && !strcmp(s->from, "-s"); }

static void derive_setting(KeyValue *s, const MicroBatch *from, int64_t value) {
    s->value = value_int(from->span, value);
    s->from = from->from;
    s->span = from->span;
}

/* Derives whichever of batch and accumulate is not given. */
static bool resolve_micro_batch(Model *m, int64_t ranks) {
    const MicroBatch *micro = &m->micro_batch;
    KeyValue *batch = model_setting(m, "train", "batch");
    KeyValue *accumulate = model_setting(m, "train", "accumulate");
    bool with_batch = micro->with_batch || is_option(batch);
    bool with_accumulate = micro->with_accumulate || is_option(accumulate);
    int64_t in_call, times = MAX(setting_integer(m, "train", "accumulate"), 1);
    int64_t samples = setting_integer(m, "train", "batch");
    if (!micro->samples || batch->value.kind == VALUE_ERROR ||
        accumulate->value.kind == VALUE_ERROR)
        return true;
    if (__builtin_mul_overflow(micro->samples, ranks, &in_call)) in_call = INT64_MAX;
    if (!with_batch) {
        if (__builtin_mul_overflow(in_call, times, &samples)) samples = INT64_MAX;
        derive_setting(batch, micro, samples);
    } else if (!with_accumulate && samples % in_call == 0) {
        derive_setting(accumulate, micro, samples / in_call);
    } else if (with_accumulate && (is_option(batch) || is_option(accumulate))) {
        return true;
    } else if (samples / in_call != times || samples % in_call)
        return diag_report(
            m->ds, E_batch_divides, micro->span,
            arena_printf(m->arena,
                         "batch must equal %s x accumulate x ranks; -n sets the number of ranks",
                         micro->key),
            "%s = %lld does not fit batch = %lld, accumulate = %lld and %lld rank%s", micro->key,
            (long long)micro->samples, (long long)samples, (long long)times, (long long)ranks,
            ranks == 1 ? "" : "s");
    return true;
}

void resolve_batch(Model *m, Policy *p, RunSettings *s) {
    const KeyValue *batch = model_setting(m, "train", "batch");
    s->ranks = mesh_extent(&p->mesh, mesh_sample_axes(&p->mesh));
    s->has_call_samples = m->micro_batch.samples;
    bool fits = resolve_micro_batch(m, s->ranks);
    s->micro_batches = p->micro_batches = MAX(setting_integer(m, "train", "accumulate"), 1);
    s->batch = setting_count(m, "train", "batch");
    int64_t share = s->ranks * s->micro_batches;
    if (s->micro_batches > 1 << 20) {
        setting_error(m, model_setting(m, "train", "accumulate"), "accumulate can be at most %d",
                      1 << 20);
        share = s->ranks;
    }
    if (!s->batch && m->options->to_plan && batch->value.kind != VALUE_ERROR)
        diag_report(m->ds, E_missing_setting, (Span){0},
                    arena_printf(m->arena,
                                 "set the number of samples per step over all ranks, for example "
                                 "-s train.batch=%lld",
                                 (long long)share * 8),
                    "train.batch is needed");
    if (!s->batch) s->batch = share;
    if (fits && s->batch % share) {
        int64_t below = s->batch / share * share;
        diag_report(m->ds, E_batch_divides, batch->span.file ? batch->span : batch->value.span,
                    below
                        ? arena_printf(m->arena, "valid sizes: %lld, %lld, %lld", (long long)below,
                                       (long long)(below + share), (long long)(below + 2 * share))
                        : arena_printf(m->arena, "valid sizes: %lld, %lld, %lld", (long long)share,
                                       (long long)(2 * share), (long long)(3 * share)),
                    "batch = %lld is not divisible by %lld rank%s x %lld micro-batch%s",
                    (long long)s->batch, (long long)s->ranks, s->ranks == 1 ? "" : "s",
                    (long long)s->micro_batches, s->micro_batches == 1 ? "" : "es");
    }
    p->batch = s->batch;
    s->local_batch = MAX(s->batch / share, 1);
}

/* Warnings about settings that were given and have no effect because of the others, so that nobody
 * relies on them.
 *
 * In: the policy and the settings after they are resolved. Out: W0302 for each such key, with the
 * setting that makes it idle. Settings that ask for what holds anyway are not reported.
 */
#include "residency.h"
#include "rules.h"

void warn_unusual_settings(Model *m, const RunSettings *s) {
    const KeyValue *o = model_setting(m, "train", "optimizer");
    if (o->value.kind == VALUE_CALL && s->lr == 0)
        diag_report(m->ds, W_zero_rate, o->value.span.file ? o->value.span : o->span, NULL,
                    "lr = 0: the weights never change");
}

/* all_reduce = last without a sum over other axes after a sum over those of shards. */
static void warn_of_idle_sums(Model *m, const Policy *p) {
    const char *why = NULL;
    AxisSet shards = split_axes(p), sums = mesh_sample_axes(&p->mesh);
    if (!p->whole_rows) sums |= mesh_cut_axes(&p->mesh);
    if (!p->all_reduce_last) return;
    if (!strategy_accumulates(p->strategy) || !strategy_gathers(p->strategy))
        why = strategy_text(m, p);
    else if (!shards || !(sums & ~shards))
        why = "the mesh does not have both replicas and shards";
    else if (p->micro_batches == 1)
        why = "train.accumulate = 1";
    else if (p->accumulate_local)
        why = "accumulate = local";
    if (why) warn_idle(m, "shard", "all_reduce", why);
}

/* Settings of prefetching where nothing is prefetched. */
static void warn_of_idle_prefetch(Model *m, const Policy *p) {
    bool gathers = strategy_gathers(p->strategy),
         root = p->unit == UNIT_ROOT && !p->unit_by_hand.at.n;
    const char *why = gathers ? "unit = root" : strategy_text(m, p);
    if (gathers && p->prefetch_post && !p->prefetch_backward)
        warn_idle(m, "shard", "prefetch_at", "no prefetch in backward");
    if (gathers && (!root || !prefetch_has_room(p))) return;
    if (p->prefetch_forward || p->prefetch_backward) warn_idle(m, "shard", "prefetch", why);
    if (!gathers || p->prefetch_backward) warn_idle(m, "shard", "prefetch_at", why);
    warn_idle(m, "shard", "inflight", why);
}

/* Settings of units where the root is the only one. */
static void warn_of_one_unit(Model *m, const Policy *p) {
    if (p->unit != UNIT_ROOT || p->unit_by_hand.at.n) return;
    const ExprValue *reshard = setting_value(m, "shard", "reshard");
    bool asks = reshard_group(p) || (reshard->kind == VALUE_BOOL && !reshard->boolean);
    if (asks && strategy_reshards(p->strategy) && !p->reshard_root)
        warn_idle(m, "shard", "reshard", "unit = root, reshard_root = false");
    if (p->reduce_buffers > 1) warn_idle(m, "shard", "reduce_buffers", "unit = root");
}

void warn_idle_settings(Model *m, const Policy *p, const RunSettings *s) {
    const KeyValue *source = model_setting(m, "data", "train");
    int kind =
        source->value.kind == VALUE_CALL ? word_find(&words_SourceKind, source->value.text) : -1;
    if (kind >= 0 && source_has_fields((SourceKind)kind))
        warn_idle(m, "data", "length",
                  arena_printf(m->arena, "data.train = %s", source->value.text));
    warn_of_idle_prefetch(m, p);
    warn_of_one_unit(m, p);
    if (!strategy_gathers(p->strategy) && setting_integer(m, "shard", "replicate_below"))
        warn_idle(m, "shard", "replicate_below", strategy_text(m, p));
    if (!strategy_accumulates(p->strategy))
        warn_idle(m, "shard", "accumulate", strategy_text(m, p));
    else if (p->accumulate_local && p->micro_batches == 1)
        warn_idle(m, "shard", "accumulate", "train.accumulate = 1");
    warn_of_idle_sums(m, p);
    if (p->keeps_gathered && !mesh_cut_axes(&p->mesh))
        warn_idle(m, "shard", "gather_again", "ranks do not share out the work on a sample");
    if (!s->eval_every) warn_idle(m, "train", "eval_steps", "no train.eval_every");
    static const char *const of_evaluation[] = {"metric", "predict"};
    for (size_t i = 0; i < ARRAY_LEN(of_evaluation); i++) {
        const KeyValue *key = model_setting(m, "train", of_evaluation[i]);
        bool wanted = key->expression && key->expression->kind != NODE_NONE;
        if (wanted && !setting_is_given(m, "data", "val"))
            warn_idle(m, "train", of_evaluation[i], "no data.val");
    }
}

/* Section shard: strategy, prefetching, buckets, layout, and how long units stay gathered.
 *
 * In: checked settings and the mesh, which mesh.c resolves first. Out: the policy. The units and
 * what is recomputed are in units.c, reshard is in mesh.c, dtypes are in precision.c.
 */
#include "residency.h"
#include "rules.h"

void resolve_hold(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "hold");
    bool held = s->value.kind == VALUE_BOOL && s->value.boolean;
    p->hold =
        s->value.kind == VALUE_BOOL ? held : p->accumulate_local && !strategy_reshards(p->strategy);
    if (held && !strategy_holds(p->strategy)) {
        warn_idle(m, "shard", "hold", strategy_text(m, p));
    } else if (held && p->micro_batches == 1) {
        warn_idle(m, "shard", "hold", "train.accumulate = 1");
    }
    p->hold = p->hold && strategy_holds(p->strategy) && p->micro_batches > 1;
}

static void resolve_prefetch(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "prefetch");
    const ExprValue *v = &s->value;
    p->prefetch_forward = p->prefetch_backward = v->kind == VALUE_INT ? v->integer : 0;
    if (v->kind == VALUE_LIST) {
        const ExprValue *forward = value_item(v, "forward"), *backward = value_item(v, "backward");
        int64_t f = 1, b = 1;
        bool right = v->n_items == (forward ? 1u : 0u) + (backward ? 1u : 0u) && v->n_items;
        right &= !forward || (value_integral(forward, &f) && f >= 0);
        right &= !backward || (value_integral(backward, &b) && b >= 0);
        if (!right) setting_error(m, s, "prefetch must be k or (forward = k, backward = k)");
        p->prefetch_forward = f;
        p->prefetch_backward = b;
    }
    p->prefetch_post = value_is_word(setting_value(m, "shard", "prefetch_at"), "post");
    p->inflight = MAX(setting_count(m, "shard", "inflight"), 1);
    if (prefetch_units(p) > 1001) setting_error(m, s, "prefetch can be at most 1000");
    const KeyValue *inflight = model_setting(m, "shard", "inflight");
    p->inflight_span = inflight->expression ? inflight->value.span : (Span){0};
    p->prefetch_span = v->span.file ? v->span : inflight->span;
}

static void resolve_bucket(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "bucket");
    bool bytes = s->value.kind == VALUE_BYTES;
    p->bucket = s->value.kind == VALUE_INT ? setting_count(m, "shard", "bucket") : 0;
    p->bucket_bytes = bytes ? s->value.integer : 0;
    if (bytes && (p->bucket_bytes < 1 || p->bucket_bytes > MOST_COUNT))
        setting_error(m, s, "bucket must be 1B to %lldB", (long long)MOST_COUNT);
}

/* ---- pipeline */

static void pipeline_error(Model *m, const char *text, const char *help) {
    const KeyValue *s = model_setting(m, "shard", "stages");
    if (!s->expression) s = model_setting(m, "shard", "mesh");
    diag_report(m->ds, E_stages, s->value.span, help, "%s", text);
}

/* What a pipeline of several stages cannot do, or cannot do yet. */
static void check_pipeline(Model *m, Policy *p, int64_t stages) {
    long long pp = mesh_stages(&p->mesh), n = stages, micro = p->micro_batches;
    bool interleaved = p->pipeline == PIPELINE_INTERLEAVED;
    if (!axis_has_stages(p->mesh.axis[0].role))
        diag_report(m->ds, E_stages, model_setting(m, "shard", "mesh")->value.span,
                    "ranks of a stage are neighbours: write pp before the others",
                    "axis pp is not the first one of the mesh");
    if (n % pp)
        pipeline_error(
            m, arena_printf(m->arena, "stages = %lld must be a multiple of pp = %lld", n, pp),
            NULL);
    else if (n > pp && !interleaved)
        pipeline_error(m, arena_printf(m->arena, "stages = %lld exceeds pp = %lld", n, pp),
                       "several stages per rank need pipeline = interleaved");
    if (interleaved && micro % pp)
        pipeline_error(m,
                       arena_printf(m->arena,
                                    "pipeline = interleaved needs train.accumulate = %lld to be a "
                                    "multiple of pp = %lld",
                                    micro, pp),
                       "train.accumulate is the number of micro-batches per step");
}

/* [["h.0", "h.1"], ["h.2"]]: the units of each stage. */
static void resolve_stage_lists(Model *m, Policy *p, const KeyValue *s) {
    const ExprValue *v = &s->value;
    bool right = !v->tuple && v->n_items > 0;
    for (uint32_t i = 0; right && i < v->n_items; i++) {
        const ExprValue *list = v->items[i].value;
        PathList stage = {.span = list->span};
        right = !v->items[i].name && list->kind == VALUE_LIST && list->n_items > 0;
        for (uint32_t k = 0; right && k < list->n_items; k++) {
            right = !list->items[k].name && list->items[k].value->kind == VALUE_TEXT;
            vec_push(m->arena, &stage.paths.at, list->items[k].value->text);
        }
        vec_push(m->arena, &p->stage_lists.at, stage);
    }
    if (right) return;
    p->stage_lists.at.n = 0;
    setting_error(m, s,
                  "stages must be a number, or a list for each stage of module paths in quotes");
}

void resolve_pipeline(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "stages");
    p->pipeline = (PipelineKind)enum_of(setting_value(m, "shard", "pipeline"), &words_PipelineKind);
    int64_t stages = s->value.kind == VALUE_INT ? setting_count(m, "shard", "stages") : 0;
    bool one = mesh_stages(&p->mesh) == 1;
    if (one && s->expression) warn_idle(m, "shard", "stages", "the mesh has no axis pp");
    if (one && model_setting(m, "shard", "pipeline")->expression)
        warn_idle(m, "shard", "pipeline", "the mesh has no axis pp");
    if (one) return;
    if (s->value.kind == VALUE_LIST) resolve_stage_lists(m, p, s);
    if (p->stage_lists.at.n) stages = p->stage_lists.at.n;
    p->stages = stages ? stages : mesh_stages(&p->mesh);
    check_pipeline(m, p, p->stages);
}

void resolve_shard(Model *m, Policy *p) {
    p->strategy = (Strategy)enum_of(setting_value(m, "shard", "strategy"), &words_Strategy);
    resolve_unit(m, p);
    resolve_recompute(m, p);
    resolve_reshard(m, p);
    resolve_prefetch(m, p);
    p->accumulate_local = value_is_word(setting_value(m, "shard", "accumulate"), "local");
    p->all_reduce_last = value_is_word(setting_value(m, "shard", "all_reduce"), "last");
    p->whole_rows = !setting_value(m, "shard", "rows")->boolean;
    p->keeps_gathered = !setting_value(m, "shard", "gather_again")->boolean;
    p->reduce_buffers = MAX(setting_count(m, "shard", "reduce_buffers"), 1);
    resolve_bucket(m, p);
    p->layout = (LayoutKind)enum_of(setting_value(m, "shard", "layout"), &words_LayoutKind);
    p->cast = (CastTime)enum_of(setting_value(m, "shard", "cast"), &words_CastTime);
    const KeyValue *align = model_setting(m, "shard", "align");
    p->align = align->value.kind == VALUE_BYTES ? align->value.integer : 0;
    if (p->align && p->align != 16) {
        Diag d =
            unsupported_error(m, align->value.span, "shard.align = %lldB", (long long)p->align);
        diag_help(&d, "supported: 16B, none");
        diag_emit(&d);
    } else if (align->expression && p->layout == LAYOUT_PARAM) {
        warn_idle(m, "shard", "align", "layout = param");
    }
}

/* From the operation graph of attention to plans that can run.
 *
 * The library's heuristic names engines with their settings, best guess first; each is compiled,
 * and kept if it takes no more scratch than there is. Engines that the library itself calls
 * nondeterministic are left out; not all of them carry that note, so the graph does not ask for
 * anything that they would do with atomic additions, and attention_choose.c compares two runs.
 *
 * Backward needs the score gradients in memory: bf16[B, H, T, S] with T a multiple of 64 and S of
 * 128, and where K < H the gradients of k and v for every query head, f32[B, H, S, h] each.
 */
#include "attention_cudnn.h"

enum { ROOM_TO_SPARE = 512, QUERY_TILE = 64, KEY_TILE = 128 };

uint64_t attention_scratch(const AttentionForm *f) {
    if (!f->backward) return ROOM_TO_SPARE;
    uint64_t scores = align_up((uint64_t)f->t, QUERY_TILE) * align_up((uint64_t)f->s, KEY_TILE) * 2;
    uint64_t grouped = f->heads == f->key_heads ? 0 : 2 * (uint64_t)(f->s * f->h) * sizeof(float);
    return (uint64_t)(f->b * f->heads) * (scores + grouped) + ROOM_TO_SPARE;
}

#ifdef HAVE_CUDNN
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef cudnnBackendDescriptor_t Descriptor;
enum { MODES = 2, MAX_CONFIGS = MAX_CONFIG / MODES, MAX_NOTES = 16 };

/* 1, after writing what failed and what the library says about it. */
static int explain_failure(const Cudnn *c, cudnnStatus_t status, const char *what, char *why) {
    char said[256] = "";
    c->last_error(said, sizeof said);
    said[strcspn(said, "\n")] = '\0';
    return fail_with(why, 1, "%s: %s%s%s", what, c->error_string(status), *said ? ": " : "", said);
}

static bool is_deterministic(AttentionGraph *g, Descriptor config, int64_t *number) {
    const Cudnn *c = g->cudnn;
    Descriptor engine = graph_descriptor(g, CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine");
    cudnnBackendNumericalNote_t note[MAX_NOTES];
    int64_t n = 0;
    if (!engine ||
        c->get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine))
        return false;
    if (c->get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &n, number) ||
        c->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MAX_NOTES, &n,
               note))
        return false;
    for (int64_t i = 0; i < n && i < MAX_NOTES; i++)
        if (note[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) return false;
    return true;
}

/* Compiles one engine with its settings; takes the plan over when it fits into the room. */
static void try_config(AttentionPlans *p, Descriptor properties, Descriptor config, int number,
                       uint64_t room, char *why) {
    const Cudnn *c = p->graph.cudnn;
    AttentionPlan x = {.engine = -1, .config = number};
    int64_t n = 0, scratch = 0;
    char later[ERROR_BYTES]; /* the first reason is the one to report */
    if (*why) why = later;
    if (!is_deterministic(&p->graph, config, &x.engine)) {
        fail_with(why, 1, "engine %lld is not deterministic", (long long)x.engine);
        return;
    }
    x.plan = graph_descriptor(&p->graph, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan");
    if (!x.plan) return;
    cudnnStatus_t s = c->set(x.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    if (!s && p->handle)
        s = c->set(x.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &p->handle);
    if (!s && properties)
        s = c->set(x.plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                   &properties);
    if (!s) s = c->finalize(x.plan);
    if (!s)
        s = c->get(x.plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n,
                   &scratch);
    x.scratch = (uint64_t)scratch;
    if (s)
        explain_failure(c, s, "a plan", why);
    else if (scratch < 0 || x.scratch > room)
        fail_with(why, 1, "engine %lld needs %lld bytes of scratch, the workspace has %llu",
                  (long long)x.engine, (long long)scratch, (unsigned long long)room);
    else if (p->n < MAX_PLANS)
        p->plan[p->n++] = x;
}

/* What one mode of the heuristic names, numbered from `first`: all or one. */
static void try_mode(AttentionPlans *p, cudnnBackendHeurMode_t mode, Descriptor properties,
                     int first, int only, uint64_t room, char *why) {
    AttentionGraph *g = &p->graph;
    Descriptor h = graph_descriptor(g, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the heuristic");
    Descriptor config[MAX_CONFIGS];
    int64_t n = 0;
    graph_set(g, h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
              &g->whole);
    graph_set(g, h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (properties)
        graph_set(g, h, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                  &properties);
    graph_finalize(g, h, "the heuristic");
    for (int i = 0; i < MAX_CONFIGS; i++)
        config[i] = graph_descriptor(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine's settings");
    if (g->status) return;
    cudnnStatus_t s = g->cudnn->get(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                    MAX_CONFIGS, &n, config);
    if (s) explain_failure(g->cudnn, s, "the heuristic", why);
    for (int i = 0; !s && i < n && i < MAX_CONFIGS && p->n < MAX_PLANS && !g->status; i++)
        if (only < 0 || first + i == only)
            try_config(p, properties, config[i], first + i, room, why);
}

int attention_plans(AttentionPlans *out, const Cudnn *cudnn, cudnnHandle_t handle,
                    const char *properties, const AttentionForm *form, uint64_t room, int only,
                    char *why) {
    memset(out, 0, sizeof *out);
    out->form = *form;
    out->handle = handle;
    AttentionGraph *g = &out->graph;
    Descriptor described = NULL;
    attention_graph(g, cudnn, handle, &out->form);
    if (properties) {
        described = graph_descriptor(g, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device");
        graph_set(g, described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                  (int64_t)strlen(properties), properties);
        graph_finalize(g, described, "the device");
    }
    *why = '\0';
    try_mode(out, CUDNN_HEUR_MODE_A, described, 0, only, room, why);
    if (out->n == 0)
        try_mode(out, CUDNN_HEUR_MODE_FALLBACK, described, MAX_CONFIGS, only, room, why);
    if (g->status) return explain_failure(cudnn, g->status, g->failed, why);
    if (!*why) fail_with(why, 1, "it has no engine for this attention");
    return out->n == 0;
}

void attention_plans_end(AttentionPlans *p) {
    if (p->graph.cudnn) graph_end(&p->graph);
    p->n = 0;
}

int attention_plan_run(const AttentionPlans *p, int which, void *const operand[UID_COUNT],
                       void *scratch, char *why) {
    const Cudnn *c = p->graph.cudnn;
    float alpha = p->form.alpha, masked = -INFINITY, one = 1.0f;
    int64_t uid[UID_COUNT], n = 0;
    void *at[UID_COUNT];
    for (int64_t i = UID_Q; i < UID_COUNT; i++) {
        void *x = operand[i];
        if (i == UID_ALPHA) x = &alpha;
        if (i == UID_MASKED && p->form.causal) x = &masked;
        if (i == UID_ONE && p->form.backward) x = &one;
        if (!x) continue;
        uid[n] = i;
        at[n++] = x;
    }
    Descriptor pack = NULL;
    cudnnStatus_t s = c->create_descriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (!s) s = c->set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, uid);
    if (!s) s = c->set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, at);
    if (!s) s = c->set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &scratch);
    if (!s) s = c->finalize(pack);
    if (!s) s = c->execute(p->handle, p->plan[which].plan, pack);
    if (pack) c->destroy_descriptor(pack);
    return s ? explain_failure(c, s, "attention", why) : 0;
}
#endif

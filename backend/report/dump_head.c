/* The head of the human view: what is trained, how it is sharded, how much memory a rank needs at
 * the peak and for what, and what it sends in a step.
 */
#include <string.h>

#include "dump.h"

enum { HEAD_INDENT = 14 };

/* ---- the model and its sharding */

static const char *real(View *v, double x) {
    char digits[40];
    return arena_strdup(v->a, double_text(x, digits));
}

static void put_ranks(View *v) {
    const Plan *p = v->p;
    buf_printf(v->out, "  ranks       %s", amount_commas(v->a, p->settings->ranks));
    for (uint64_t i = 0; i < p->n_axes; i++)
        buf_printf(v->out, "%s%s = %s", i ? ", " : ": mesh ", view_text(v, p->axes[i].name),
                   amount_commas(v->a, p->axes[i].size));
    buf_printf(v->out, "\n");
}

/* "the ranks", or "2 ranks, once on each of 2 replicas". Ranks along an axis that cuts parameters
 * are no replicas. */
static const char *split_over(View *v, const PlanGroup *g, uint64_t n) {
    Mesh mesh = plan_mesh(v->p);
    AxisSet all = 0;
    for (uint64_t i = 0; i < n; i++) all |= g[i].split;
    int64_t shards = mesh_extent(&mesh, all), ranks = mesh_ranks(&mesh);
    if (shards == ranks) return "the ranks";
    ranks /= mesh_extent(&mesh, mesh_cut_axes(&mesh)) * mesh_stages(&mesh);
    if (shards == ranks) return arena_printf(v->a, "%s ranks", amount_commas(v->a, shards));
    return arena_printf(v->a, "%s ranks, once on each of %s replicas", amount_commas(v->a, shards),
                        amount_commas(v->a, ranks / shards));
}

/* What is sharded between steps: the strategy, as far as the plan shows it. */
static void put_sharding(View *v) {
    const Plan *p = v->p;
    bool replicated = false, split = false, cut = false, columns = false;
    bool gathered = false, parts = false;
    for (uint64_t i = 0; i < p->n_groups; i++) {
        const PlanGroup *g = &p->groups[i];
        replicated |= !g->split;
        split |= g->split != 0;
        cut |= g->cut != 0;
        for (uint64_t k = 0; k < g->n_param; k++)
            columns |= plan_axis(p, g, g->first_param + k) > 0;
    }
    for (uint64_t i = 0; i < p->n_states; i++) {
        gathered |= p->states[i].role == STATE_GATHERED;
        parts |= p->states[i].role == STATE_GATHERED && !holds_all(p, &p->states[i]);
    }
    buf_printf(v->out, "  sharding    %llu unit%s; ", (Llu)p->n_units, p->n_units == 1 ? "" : "s");
    if (p->settings->ranks == 1)
        buf_printf(v->out, "one rank holds everything\n");
    else if (!split)
        buf_printf(v->out, "every rank holds everything%s (strategy = none)\n",
                   cut ? " of its part" : "");
    else
        buf_printf(v->out, "parameters, gradients and optimizer state are split over %s%s%s%s\n",
                   split_over(v, p->groups, p->n_groups),
                   columns ? ", some along an axis other than the first" : "",
                   replicated ? ", some parameters are whole on each" : "",
                   parts      ? "; parts of units stay over a step (reshard = K)"
                   : gathered ? "; gathered parameters stay over a step"
                              : "");
}

/* How much ranks along axes like tp share out. */
static void put_cut(View *v) {
    const Plan *p = v->p;
    AxisSet axes = 0;
    int64_t elements = 0;
    for (uint64_t i = 0; i < p->n_params; i++) {
        if (!p->params[i].cut.axes) continue;
        Type whole = plan_whole_type(p, &p->params[i]);
        axes |= p->params[i].cut.axes;
        elements += type_elements(&whole);
    }
    if (!axes) return;
    buf_printf(v->out, "  parts       ranks along");
    for (uint64_t a = 0; a < p->n_axes; a++)
        if (axes >> a & 1) buf_printf(v->out, " %s", view_text(v, p->axes[a].name));
    buf_printf(v->out, " share out %s of these parameters\n", amount_commas(v->a, elements));
}

static void put_dtypes(View *v) {
    const Plan *p = v->p;
    buf_printf(v->out, "  parameters  %s", amount_commas(v->a, p->settings->parameters));
    const PlanGroup *largest = p->groups;
    for (uint64_t i = 1; i < p->n_groups; i++)
        if (p->groups[i].unpadded > largest->unpadded) largest = &p->groups[i];
    bool quantized = p->n_groups && dtype_is_quantized((int)largest->wire_dtype);
    if (p->n_groups)
        buf_printf(v->out, ", kept in %s, read in %s%s%s, gradients reduced in %s",
                   dtype_name((int)largest->master_dtype), dtype_name((int)largest->compute_dtype),
                   quantized ? ", gathered in " : "",
                   quantized ? dtype_name((int)largest->wire_dtype) : "",
                   dtype_name((int)largest->reduce_dtype));
    buf_printf(v->out, "\n");
}

static void put_loss_scale(View *v) {
    const PlanSettings *s = v->p->settings;
    char number[2][40];
    if (s->loss_scale == 0) return;
    buf_printf(v->out, "  loss scale  %s", amount_commas(v->a, (int64_t)s->loss_scale));
    if (s->loss_interval)
        buf_printf(v->out, ", times %s after %s steps without overflow, times %s after one with it",
                   double_text(s->loss_growth, number[0]), amount_commas(v->a, s->loss_interval),
                   double_text(s->loss_backoff, number[1]));
    buf_printf(v->out, "\n");
}

static void put_step(View *v) {
    const PlanSettings *s = v->p->settings;
    Arena *a = v->a;
    Mesh mesh = plan_mesh(v->p);
    long long readers = mesh_extent(&mesh, mesh_sample_axes(&mesh)); /* of other samples */
    char *line = arena_printf(a, "  step        %s samples: %lld rank%s x %s x %s micro-batch%s",
                              amount_commas(a, s->batch), readers, readers == 1 ? "" : "s",
                              amount_commas(a, s->local_batch), amount_commas(a, s->micro_batches),
                              s->micro_batches == 1 ? "" : "es");
    if (s->length)
        line = arena_printf(a, "%s; %s tokens per sample", line, amount_commas(a, s->length));
    if (s->steps) line = arena_printf(a, "%s; %s steps", line, amount_commas(a, s->steps));
    if (s->epochs) line = arena_printf(a, "%s; %s epochs", line, amount_commas(a, s->epochs));
    view_line(v,
              arena_printf(a, "%s; %s, lr %s", line, word_of(&words_OptimizerKind, s->optimizer),
                           real(v, s->lr)),
              HEAD_INDENT);
}

static void put_recomputed(View *v) {
    const Plan *p = v->p;
    uint64_t n = 0;
    double flops = 0, all = 0;
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *program = &p->programs[i];
        bool trains = program->kind == PROGRAM_TRAIN || program->kind == PROGRAM_FIRST;
        for (uint32_t k = 0; trains && k < program->n_instr; k++) {
            const PlanInstr *in = &p->instrs[program->first_instr + k];
            bool again = in->flags & INSTR_RECOMPUTED;
            n += again && !view_silent(in);
            flops += again ? (double)in->flops : 0;
            all += (double)in->flops;
        }
    }
    if (!n) return;
    view_line(
        v,
        arena_printf(v->a,
                     "  recompute   %llu instruction%s of forward repeated in backward: %s of "
                     "the %s of a micro-batch",
                     (Llu)n, n == 1 ? "" : "s", amount_flops(v->a, flops), amount_flops(v->a, all)),
        HEAD_INDENT);
}

/* ---- collectives of a step */

static void put_sent(View *v) {
    const SentBytes *s = sent_bytes(v->p, v->a);
    uint64_t all = 0;
    for (int op = 0; op < OP_COUNT; op++) all += s->n[op];
    char *line = arena_printf(v->a, "  sends       %s per rank and step; %s collective%s",
                              amount_short(v->a, v->p->settings->sent_bytes),
                              amount_commas(v->a, (int64_t)all), all == 1 ? "" : "s");
    const char *comma = ":";
    for (int op = 0; op < OP_COUNT; op++) {
        if (!s->n[op]) continue;
        line = arena_printf(v->a, "%s%s %llu %s %s", line, comma, (Llu)s->n[op], op_info[op].name,
                            amount_short(v->a, s->by_op[op]));
        comma = ",";
    }
    view_line(v, line, HEAD_INDENT);
}

static void put_saves(View *v) {
    view_line(v, arena_printf(v->a, "  checkpoint  %s", saves_text(v->p, v->a)), HEAD_INDENT);
}

/* ---- the largest reduction */

typedef struct Reduced {
    int64_t bytes;                   /* of all gradients of the unit */
    int64_t first_bytes, next_bytes; /* of its two largest parameters */
    const PlanParam *first, *next;
} Reduced;

static Reduced reduced_of(const Plan *p, const PlanUnit *u) {
    Reduced r = {0};
    for (uint32_t k = 0; k < u->n_group; k++) {
        const PlanGroup *g = &p->groups[u->first_group + k];
        if (!g->split || !(g->flags & GROUP_TRAINABLE)) continue;
        int64_t element = dtype_bytes((int)g->reduce_dtype);
        r.bytes += g->padded * element;
        for (uint32_t j = 0; j < g->n_param; j++) {
            const PlanParam *q = &p->params[p->group_params[g->first_param + j].param];
            int64_t bytes = type_elements(&q->type) * element;
            if (q->n_alias) continue; /* a tied parameter's unit is not free to choose */
            if (bytes > r.first_bytes) {
                r.next = r.first;
                r.next_bytes = r.first_bytes;
                r.first = q;
                r.first_bytes = bytes;
            } else if (bytes > r.next_bytes) {
                r.next = q;
                r.next_bytes = bytes;
            }
        }
    }
    return r;
}

/* The module that declares the parameter: its path without the last name; "" is the root. */
static const char *module_of(View *v, const PlanParam *q) {
    const char *name = view_text(v, q->name), *dot = strrchr(name, '.');
    return dot ? arena_strndup(v->a, name, (size_t)(dot - name)) : "";
}

/* Suggests separating two parameters of a unit, each larger than any other unit: nothing requires
 * them to be reduced together. */
static void put_largest_reduction(View *v) {
    const Plan *p = v->p;
    Reduced most = {0}, other = {0};
    uint64_t unit = 0;
    for (uint64_t i = 0; i < p->n_units; i++) {
        Reduced r = reduced_of(p, &p->units[i]);
        if (r.bytes <= most.bytes) {
            if (r.bytes > other.bytes) other = r;
            continue;
        }
        other = most;
        most = r;
        unit = i;
    }
    if (!other.bytes || most.next_bytes <= other.bytes || !*module_of(v, most.first)) return;
    view_line(v,
              arena_printf(v->a,
                           "  reduces     %s of %s at once, including %s and %s; \"%s\" = unit in "
                           "section shard separates them",
                           amount_short(v->a, (uint64_t)most.bytes), view_unit(v, (int64_t)unit),
                           view_text(v, most.first->name), view_text(v, most.next->name),
                           module_of(v, most.first)),
              HEAD_INDENT);
}

static void put_sources(View *v) {
    const Plan *p = v->p;
    char *line = arena_printf(v->a, "  files      ");
    for (uint64_t i = 1; i < p->n_files; i++)
        line = arena_printf(v->a, "%s%s %llu %s", line, i > 1 ? "," : "", (Llu)i,
                            view_text(v, p->files[i].base));
    view_line(v, line, HEAD_INDENT);
}

/* ---- the peak */

static void put_part(View *v, const char *words, uint64_t bytes, uint64_t of) {
    enum { BAR = 60 };
    int marks = of ? (int)((double)bytes / (double)of * BAR + 0.5) : 0;
    buf_printf(v->out, "  %-21s %10s %5.1f %%  ", words, amount_bytes(v->a, bytes),
               of ? 100.0 * (double)bytes / (double)of : 0.0);
    for (int i = 0; i < marks; i++) buf_printf(v->out, "#");
    while (v->out->n && v->out->at[v->out->n - 1] == ' ') v->out->n--;
    buf_printf(v->out, "\n");
}

/* The first instruction whose kernel may use most. */
static const PlanInstr *most_scratch(View *v, int device, uint64_t *bytes) {
    const Plan *p = v->p;
    Type *types = arena_array(v->a, Type, plan_most_types(p) + 1);
    const PlanInstr *most = NULL;
    *bytes = 0;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        uint64_t scratch = plan_scratch(p, &p->instrs[i], device, types);
        if (scratch > *bytes) *bytes = scratch, most = &p->instrs[i];
    }
    return most;
}

/* "#12 matmul h.0.attn" */
static const char *instr_named(View *v, const PlanInstr *in) {
    const char *path = view_text(v, in->path);
    return arena_printf(v->a, "#%llu %s%s%s", (Llu)(in - v->p->instrs), op_info[in->op].name,
                        *path ? " " : "", path);
}

static void put_allocated(View *v, int device) {
    const PlanSettings *s = v->p->settings;
    uint64_t bytes;
    const PlanInstr *most = most_scratch(v, device, &bytes);
    buf_printf(v->out, "  %-21s %10s, with %s of workspace",
               arena_printf(v->a, "on %s", word_of(&words_DeviceKind, device)),
               amount_bytes(v->a, s->workspace_bytes[device]),
               amount_bytes(v->a, s->workspace_bytes[device] - s->arena_bytes));
    if (most) buf_printf(v->out, " (for %s)", instr_named(v, most));
    buf_printf(v->out, "\n");
}

static void put_peak(View *v) {
    const Plan *p = v->p;
    const PlanSettings *s = p->settings;
    LivesPart parts[LIVES_PARTS];
    uint64_t at = lives_peak(p);
    if (!p->n_instrs) return;
    lives_parts(&v->lives, parts);
    const PlanInstr *in = &p->instrs[at];
    buf_printf(v->out, "\nmemory of a rank at the peak: %s, %s, line %u\n", instr_named(v, in),
               phase_name(in->phase), in->line);
    for (int c = 0; c < LIVES_PARTS; c++)
        if (parts[c].bytes) put_part(v, parts[c].words, parts[c].bytes, s->arena_bytes);
    buf_printf(v->out, "  %-21s %10s\n", "together", amount_bytes(v->a, s->arena_bytes));
    for (int d = 0; d < DEVICE_KINDS; d++) put_allocated(v, d);
}

static void put_host(View *v) {
    const PlanSettings *s = v->p->settings;
    uint64_t bytes[CATEGORY_COUNT] = {0};
    const char *path = view_text(v, s->host_path);
    if (!s->host_bytes) return;
    lives_in_host(v->p, bytes);
    buf_printf(v->out, "\nkept by a rank in %s%s%s\n",
               *path ? "a file, mapped, in " : "memory of the host", path,
               s->host_pageable ? ", not pinned" : "");
    for (int c = 0; c < CATEGORY_COUNT; c++)
        if (bytes[c]) put_part(v, category_info[c].words, bytes[c], s->host_bytes);
    buf_printf(v->out, "  %-21s %10s\n", "together", amount_bytes(v->a, s->host_bytes));
}

void view_line(View *v, const char *line, int indent) {
    size_t n = strlen(line), at = VIEW_WIDTH;
    while (n > VIEW_WIDTH) {
        for (at = VIEW_WIDTH + 1; at > (size_t)indent + 1 && line[at - 1] != ' ';) at--;
        size_t stop = at;
        while (stop > (size_t)indent + 1 &&
               !(line[stop - 1] == ' ' && strchr(",;:", line[stop - 2])))
            stop--;
        if (stop > (size_t)indent + 1) at = stop;
        if (at <= (size_t)indent + 1) break;
        buf_printf(v->out, "%.*s\n", (int)at - 1, line);
        line = arena_printf(v->a, "%*s%s", indent, "", line + at);
        n = strlen(line);
    }
    buf_printf(v->out, "%s\n", line);
}

void view_head(View *v) {
    const PlanSettings *s = v->p->settings;
    buf_printf(v->out, "%s, compiled by %s, fingerprint %016llx\n\n", view_text(v, s->model),
               view_text(v, s->compiler), (Llu)v->p->header->fingerprint);
    put_ranks(v);
    put_dtypes(v);
    put_loss_scale(v);
    put_cut(v);
    put_sharding(v);
    put_step(v);
    put_recomputed(v);
    put_sent(v);
    put_largest_reduction(v);
    put_saves(v);
    put_sources(v);
    put_peak(v);
    put_host(v);
}

/* A plan as text: every section of PLAN_SECTIONS in the order of the file, one line per row,
 * programs with their instructions in the form of a graph at level sched.
 *
 * The sections are printed by walking the table that also defines the file's layout, so a section
 * that is added there without a printer here does not compile. Values, operands and edges have no
 * lines of their own: instructions show them.
 */
#include <string.h>

#include "dump.h"
#include "facts.h"
#include "text.h"

static const Plan *plan_at; /* the plan being printed: rows hold offsets of its strings */
static Type *types_at;      /* space for those of an instruction */

static const char *text(PlanString s) { return plan_string(plan_at, s); }

/* A word, with the spaces around it, and a number. */
static void put_real(Buf *out, const char *word, double x) {
    char digits[40];
    buf_printf(out, "%s%s", word, double_text(x, digits));
}

static void put_loss_scale(Buf *out, const PlanSettings *s) {
    if (s->loss_scale == 0) return;
    put_real(out, "loss_scale ", s->loss_scale);
    if (s->loss_interval) {
        put_real(out, " growth ", s->loss_growth);
        put_real(out, " backoff ", s->loss_backoff);
        buf_printf(out, " interval %lld", (long long)s->loss_interval);
    }
    buf_printf(out, "\n");
}

static void put_settings(Buf *out, const PlanSettings *s, uint64_t i) {
    (void)i;
    buf_printf(out, "model \"%s\" compiled by \"%s\"\n", text(s->model), text(s->compiler));
    buf_printf(out, "ranks %u batch %lld micro_batches %lld local_batch %lld length %lld", s->ranks,
               (long long)s->batch, (long long)s->micro_batches, (long long)s->local_batch,
               (long long)s->length);
    buf_printf(out, " order %s seed %llu\n", word_of(&words_DataOrder, s->order), (Llu)s->seed);
    buf_printf(out, "steps %lld epochs %lld eval_every %lld eval_steps %lld on_nan %s\n",
               (long long)s->steps, (long long)s->epochs, (long long)s->eval_every,
               (long long)s->eval_steps, word_of(&words_OnNan, s->on_nan));
    buf_printf(out, "optimizer %s lr ", word_of(&words_OptimizerKind, s->optimizer));
    put_real(out, "", s->lr);
    put_real(out, " beta1 ", s->beta1);
    put_real(out, " beta2 ", s->beta2);
    if (s->beta3 != 0) put_real(out, " beta3 ", s->beta3);
    if (s->beta2_decay != 0) put_real(out, " beta2_decay ", s->beta2_decay);
    buf_printf(out, " schedule %s warmup ", word_of(&words_ScheduleKind, s->schedule));
    put_real(out, "", s->warmup);
    if (s->schedule == SCHEDULE_WSD) put_real(out, " decay ", s->decay);
    put_real(out, " final ", s->final);
    buf_printf(out, " loss_exponent %lld", (long long)s->loss_exponent);
    if (s->gain > 0) put_real(out, " gain ", s->gain);
    buf_printf(out, "\n");
    put_loss_scale(out, s);
    buf_printf(out, "arena persistent %llu bytes %llu workspace at %llu", (Llu)s->persistent_bytes,
               (Llu)s->arena_bytes, (Llu)s->workspace_offset);
    for (int d = 0; d < DEVICE_KINDS; d++)
        buf_printf(out, " %s %llu", word_of(&words_DeviceKind, d), (Llu)s->workspace_bytes[d]);
    buf_printf(out, "\n");
    if (s->host_bytes) {
        buf_printf(out, "host persistent %llu bytes %llu", (Llu)s->host_persistent,
                   (Llu)s->host_bytes);
        buf_printf(out, s->host_path ? " path %s" : "%s", text(s->host_path));
        buf_printf(out, "%s\n", s->host_pageable ? " pageable" : "");
    }
    buf_printf(out, "sends %llu bytes per step, %lld parameters\n", (Llu)s->sent_bytes,
               (long long)s->parameters);
    const char *config = text(s->hf_config);
    if (*config) buf_printf(out, "config.json %s", config);
    if (*text(s->checkpoint))
        buf_printf(out, "checkpoints \"%s\" every %lld keep %lld and multiples of %lld%s\n",
                   text(s->checkpoint), (long long)s->checkpoint_every, (long long)s->keep,
                   (long long)s->keep_every, s->keep_best ? " and the best" : "");
    if (s->form == CHECKPOINT_FULL) buf_printf(out, "checkpoints have whole tensors\n");
    if (s->copy_bytes) buf_printf(out, "saves through a copy of %llu bytes\n", (Llu)s->copy_bytes);
}

static void put_axes(Buf *out, const PlanAxis *a, uint64_t i) {
    (void)i;
    buf_printf(out, "mesh %s = %lld\n", text(a->name), (long long)a->size);
}

static void put_files(Buf *out, const PlanFile *f, uint64_t i) {
    if (i == 0) return;
    buf_printf(out, "file %llu \"%s\" %016llx\n", (Llu)i, text(f->base), (Llu)f->hash);
}

static void put_axis_names(Buf *out, const char *before, AxisSet axes) {
    if (axes) buf_printf(out, " %s", before);
    for (uint64_t a = 0; a < plan_at->n_axes; a++)
        if (axes >> a & 1) buf_printf(out, " %s", text(plan_at->axes[a].name));
}

static void put_cut(Buf *out, const TensorCut *c) {
    if (!c->axes) return;
    put_axis_names(out, "cut", c->axes);
    buf_printf(out, " axis %d runs %lld length %lld", c->dim, (long long)c->outer,
               (long long)c->size);
}

static void put_params(Buf *out, const PlanParam *p, uint64_t i) {
    buf_printf(out, "param %llu \"%s\" ", (Llu)i, text(p->name));
    Type whole = plan_whole_type(plan_at, p);
    type_print(&whole, out);
    put_cut(out, &p->cut);
    buf_printf(out, " %s", word_of(&words_InitKind, p->init));
    if (p->init == INIT_NORMAL) {
        buf_printf(out, "(");
        if (p->init_mean != 0) {
            put_real(out, "", p->init_mean);
            buf_printf(out, ", ");
        }
        put_real(out, "", p->init_std);
        buf_printf(out, ")");
    }
    buf_printf(out, " key \"%s\" checkpoint \"%s\"%s%s%s%s", text(p->key), text(p->checkpoint),
               p->flags & PARAM_TRANSPOSED ? " transposed" : "",
               p->flags & PARAM_NO_DECAY ? " no_decay" : "",
               p->flags & PARAM_FROZEN ? " frozen" : "", p->flags & PARAM_MATRIX ? " matrix" : "");
    if (p->flags & PARAM_GROUPED) {
        put_real(out, " lr ", p->lr_factor);
        put_real(out, " decay ", p->weight_decay);
    }
    for (uint32_t k = 0; k < p->n_alias; k++)
        buf_printf(out, " alias \"%s\" checkpoint \"%s\"",
                   text(plan_at->aliases[p->first_alias + k].name),
                   text(plan_at->aliases[p->first_alias + k].checkpoint));
    buf_printf(out, "\n");
}

static void put_names(Buf *out, const PlanNames *n, uint64_t i) {
    buf_printf(out, "names %llu \"%s\"%s", (Llu)i, text(n->label), n->n_skip ? " skip" : "");
    for (uint32_t k = 0; k < n->n_skip; k++)
        buf_printf(out, " \"%s\"", text(plan_at->skips[n->first_skip + k]));
    buf_printf(out, "\n");
}

static void put_other_names(Buf *out, const PlanOtherName *n, uint64_t i) {
    uint64_t rows = plan_at->n_params + plan_at->n_aliases, row = i % rows;
    const char *path = row < plan_at->n_params
                           ? text(plan_at->params[row].name)
                           : text(plan_at->aliases[row - plan_at->n_params].name);
    buf_printf(out, "name %llu \"%s\" checkpoint \"%s\"%s\n", (Llu)(i / rows + 1), path,
               text(n->checkpoint), n->flags & PARAM_TRANSPOSED ? " transposed" : "");
}

static void put_part(Buf *out, const StoredPart *s) {
    buf_printf(out, " of \"%s\" %lld+%lld at %lld", text(plan_at->params[s->param].name),
               (long long)s->first, (long long)s->n, (long long)s->offset);
    for (int k = 0; k < s->rank; k++)
        buf_printf(out, "%s%lld*%lld", k ? " " : " [", (long long)s->dim[k],
                   (long long)s->stride[k]);
    buf_printf(out, "]");
}

static void put_stored(Buf *out, const PlanStored *s, uint64_t i) {
    buf_printf(out, "stored %llu names %u \"%s\" [", (Llu)i, s->table, text(s->name));
    for (int k = 0; k < s->rank; k++)
        buf_printf(out, "%s%lld", k ? ", " : "", (long long)s->dim[k]);
    buf_printf(out, "]");
    for (uint32_t k = 0; k < s->n_part; k++) put_part(out, &plan_at->parts[s->first_part + k]);
    buf_printf(out, "\n");
}

static void put_units(Buf *out, const PlanUnit *u, uint64_t i) {
    buf_printf(out, "unit %llu \"%s\" %s groups", (Llu)i, text(u->name), text(u->class_name));
    for (uint32_t k = 0; k < u->n_group; k++) buf_printf(out, " %u", u->first_group + k);
    buf_printf(out, " below %lld owned %lld\n", (long long)u->below, (long long)u->owned);
}

static void put_groups(Buf *out, const PlanGroup *g, uint64_t i) {
    buf_printf(out, "group %llu unit %u %s %s %s %s", (Llu)i, g->unit,
               g->flags & GROUP_MATRICES    ? "matrices"
               : g->flags & GROUP_TRAINABLE ? "trainable"
                                            : "frozen",
               dtype_name((int)g->master_dtype), dtype_name((int)g->compute_dtype),
               dtype_name((int)g->reduce_dtype));
    if (g->wire_dtype != g->compute_dtype)
        buf_printf(out, " wire %s", dtype_name((int)g->wire_dtype));
    buf_printf(out, " params");
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *a = &plan_at->group_params[g->first_param + k];
        buf_printf(out, " %u@%lld", a->param, (long long)a->offset);
        if (a->chunk) buf_printf(out, "/%lld", (long long)a->chunk);
    }
    buf_printf(out, " unpadded %lld padded %lld shard %lld%s\n", (long long)g->unpadded,
               (long long)g->padded, (long long)g->shard, g->split ? "" : " replicated");
}

static void put_address(Buf *out, uint64_t address) {
    buf_printf(out, address_is_host(address) ? " @host+%llu" : " @%llu",
               (Llu)address_offset(address));
}

static void put_states(Buf *out, const PlanState *s, uint64_t i) {
    buf_printf(out, "state %llu \"%s\" %s ", (Llu)i, text(s->name),
               word_of(&words_StateRole, s->role));
    type_print(&s->type, out);
    if (s->group >= 0) buf_printf(out, " group %d", s->group);
    if (s->stage) buf_printf(out, " stage %u", s->stage - 1);
    put_address(out, s->address);
    buf_printf(out, "\n");
}

static void put_saves(Buf *out, const PlanSave *s, uint64_t i) {
    buf_printf(out, "save %llu state %u bytes %llu", (Llu)i, s->state, (Llu)s->bytes);
    if (s->copied) buf_printf(out, " copy @%llu", (Llu)s->at);
    buf_printf(out, "\n");
}

static void put_formulas(Buf *out, const PlanFormula *f, uint64_t i) {
    buf_printf(out, "formula %llu operands %u: ", (Llu)i, f->n_in);
    formula_print(f->n_in, f->n_step, plan_at->steps + f->first_step, out);
    buf_printf(out, "\n");
}

static void put_fields(Buf *out, const PlanField *f, uint64_t i) {
    buf_printf(out, "field %llu \"%s\" ", (Llu)i, text(f->name));
    type_print(&f->type, out);
    buf_printf(out, " staging %llu", (Llu)f->staging);
    if (f->of) buf_printf(out, " of %u", f->of - 1);
    buf_printf(out, "\n");
}

static void put_sources(Buf *out, const PlanSource *s, uint64_t i) {
    (void)i;
    buf_printf(out, "source %s = %s", text(s->name), word_of(&words_SourceKind, s->kind));
    if (s->kind == SOURCE_TEXT || s->kind == SOURCE_TOKENS)
        buf_printf(out, " \"%s\"", text(s->path));
    if (s->samples) buf_printf(out, " samples %lld seed %llu", (long long)s->samples, (Llu)s->seed);
    if (s->vocab) buf_printf(out, " vocab %lld", (long long)s->vocab);
    if (s->kind == SOURCE_TEXT) {
        put_real(out, " from ", s->from);
        put_real(out, " to ", s->to);
    }
    if (s->corruption)
        buf_printf(out,
                   " %s raw %lld noise %lld spans %lld mask %lld end %lld words %lld draw %llu",
                   word_of(&words_Corruption, s->corruption), (long long)s->raw,
                   (long long)s->noise, (long long)s->spans, (long long)s->mask, (long long)s->end,
                   (long long)s->words, (Llu)s->draw);
    for (uint32_t k = 0; k < s->n_field; k++) {
        const PlanSourceField *f = &plan_at->source_fields[s->first_field + k];
        buf_printf(out, " %s", text(f->name));
        if (s->kind == SOURCE_NPY) buf_printf(out, " \"%s\"", text(f->path));
        if (f->classes) buf_printf(out, " below %lld", (long long)f->classes);
    }
    buf_printf(out, "\n");
}

/* ---- instructions */

/* What its kernels may use on each kind of device, where some use any. */
static void put_scratch(Buf *out, const Plan *p, const PlanInstr *in) {
    uint64_t bytes[DEVICE_KINDS], any = 0;
    for (int d = 0; d < DEVICE_KINDS; d++) any |= bytes[d] = plan_scratch(p, in, d, types_at);
    if (any) buf_printf(out, " workspace");
    for (int d = 0; d < DEVICE_KINDS && any; d++)
        buf_printf(out, " %s %llu", word_of(&words_DeviceKind, d), (Llu)bytes[d]);
}

static void put_instr(Buf *out, const Plan *p, uint64_t i) {
    const PlanInstr *in = &p->instrs[i];
    Mesh mesh = plan_mesh(p);
    buf_printf(out, "  #%llu ", (Llu)i);
    if (in->stream) buf_printf(out, "[%s] ", stream_name(in->stream));
    for (uint32_t k = 0; k < in->n_edge; k++)
        buf_printf(out, "%s#%u%s", k ? ", " : "wait(", p->edges[in->first_edge + k],
                   k + 1 == in->n_edge ? ") " : "");
    for (uint32_t k = 0; k < in->n_out; k++) {
        const PlanValue *v = &p->values[in->first_out + k];
        buf_printf(out, "%s%%%u: ", k ? ", " : "", in->first_out + k);
        type_print(&v->type, out);
        if (v->type.dtype != DT_TOKEN) put_address(out, v->address);
        Mesh mesh = plan_mesh(p);
        if (v->slots) buf_printf(out, " slot ");
        if (v->slots) text_axes_print(&mesh, v->slots, out);
        if (v->placed) buf_printf(out, " placed %d", v->placed - 1);
    }
    buf_printf(out, "%s%s", in->n_out ? " = " : "", op_info[in->op].name);
    for (uint32_t k = 0; k < in->n_in; k++)
        buf_printf(out, "%s%%%u%s", k ? ", " : "(", p->operands[in->first_in + k],
                   k + 1 == in->n_in ? ")" : "");
    text_attrs_print(in->op, &in->attr, &mesh, out);
    buf_printf(out, " !%s%s", phase_name(in->phase),
               in->flags & INSTR_RECOMPUTED ? " recomputed" : "");
    if (in->unit >= 0) buf_printf(out, " unit %d", in->unit);
    if (*text(in->path)) buf_printf(out, " \"%s\"", text(in->path));
    if (in->file)
        buf_printf(out, " %u:%u:%u-%u:%u", in->file, in->line, in->col, in->end_line, in->end_col);
    if (in->saves) buf_printf(out, " after %u save%s", in->saves, in->saves == 1 ? "" : "s");
    buf_printf(out, " flops %llu bytes %llu", (Llu)in->flops, (Llu)in->bytes);
    put_scratch(out, p, in);
    buf_printf(out, " live %llu\n", (Llu)in->live_bytes);
}

/* Values of the model are ~N; only the sizes of the first one are kept with an op. */
static void put_node(Buf *out, const PlanNode *n) {
    const Plan *p = plan_at;
    Attrs a = plan_node_attrs(p, n);
    Mesh mesh = plan_mesh(p);
    buf_printf(out, "  ");
    for (uint32_t k = 0; k < n->n_out; k++)
        buf_printf(out, "%s~%u", k ? ", " : "", n->first_out + k);
    for (uint32_t k = 0; k < n->rank; k++)
        buf_printf(out, "%s%llu%s", k ? ", " : "[",
                   (Llu)p->node_words[n->first_word + n->n_word - n->rank + k],
                   k + 1 == n->rank ? "]" : "");
    buf_printf(out, "%s%s", n->n_out ? " = " : "", op_info[n->op].name);
    for (uint32_t k = 0; k < n->n_in; k++)
        buf_printf(out, "%s~%u%s", k ? ", " : "(", p->node_operands[n->first_in + k],
                   k + 1 == n->n_in ? ")" : "");
    text_attrs_print(n->op, &a, &mesh, out);
    if (*text(n->path)) buf_printf(out, " \"%s\"", text(n->path));
    if (n->file) buf_printf(out, " %u:%u", n->file, n->line);
    buf_printf(out, "\n");
}

static void put_facts(Buf *out, const PlanFact *f, uint64_t i) {
    buf_printf(out, "fact %llu \"%s\" ", (Llu)i, text(f->name));
    if (f->kind == FACT_WHOLE)
        buf_printf(out, "%lld", (long long)f->value);
    else if (f->kind == FACT_REAL)
        put_real(out, "", fact_as_real(f->value));
    else
        buf_printf(out, "\"%s\"", text((PlanString)f->value));
    buf_printf(out, "\n");
}

static void put_model_programs(Buf *out, const PlanModelProgram *m, uint64_t i) {
    (void)i;
    buf_printf(out, "model %s\n", word_of(&words_ProgramKind, m->kind));
    for (uint32_t k = 0; k < m->n_node; k++) put_node(out, &plan_at->nodes[m->first_node + k]);
    buf_printf(out, "end\n");
}

/* Of a pipeline: whose program it is, and what part of a micro-batch. */
static void put_stage(Buf *out, const PlanProgram *a) {
    if (plan_has_stages(plan_at))
        buf_printf(out, " stage %u %s", a->stage, word_of(&words_StagePart, a->part));
}

static void put_programs(Buf *out, const PlanProgram *a, uint64_t i) {
    (void)i;
    buf_printf(out, "program %s", word_of(&words_ProgramKind, a->kind));
    put_stage(out, a);
    buf_printf(out, " peak %llu\n", (Llu)a->peak);
    for (uint32_t k = 0; k < a->n_instr; k++) put_instr(out, plan_at, (uint64_t)a->first_instr + k);
    buf_printf(out, "end\n");
}

static void put_calls(Buf *out, const PlanCall *c, uint64_t i) {
    (void)i;
    buf_printf(
        out, "call role %u %s %s times %lld", c->role, c->kind == PLAN_STEP ? "step" : "evaluation",
        word_of(&words_ProgramKind, plan_at->programs[c->program].kind), (long long)c->times);
    put_stage(out, &plan_at->programs[c->program]);
    if (plan_has_stages(plan_at))
        buf_printf(out, " micro-batch %lld slot %u", (long long)c->micro, c->slot);
    buf_printf(out, "\n");
}

static void put_roles(Buf *out, const PlanRole *r, uint64_t i) {
    buf_printf(out, "role %llu ranks %u..%u", (Llu)i, r->first_rank,
               r->first_rank + r->n_ranks - 1);
    if (plan_has_stages(plan_at))
        buf_printf(out, " persistent %llu bytes %llu kept %llu at %llu slots %llu sends %llu",
                   (Llu)r->persistent_bytes, (Llu)r->arena_bytes, (Llu)r->kept_bytes,
                   (Llu)r->kept_at, (Llu)r->kept_slots, (Llu)r->sent_bytes);
    buf_printf(out, "\n");
}

static void put_placements(Buf *out, const Placement *p, uint64_t i) {
    buf_printf(out, "placement %llu", (Llu)i);
    for (int k = 0; k < MAX_RANK; k++) {
        put_axis_names(out, "cut", p->cut[k]);
        if (p->cut[k])
            buf_printf(out, " axis %d runs %lld length %lld", k, (long long)p->outer[k],
                       (long long)p->size[k]);
    }
    put_axis_names(out, "partial", p->partial);
    buf_printf(out, "\n");
}

/* Sections that print as part of others: characters of names, aliases with their parameter, .. */
#define INSIDE_OTHERS(field, type)                                                                 \
    static void put_##field(Buf *out, const type *row, uint64_t i) {                               \
        (void)out;                                                                                 \
        (void)row;                                                                                 \
        (void)i;                                                                                   \
    }
INSIDE_OTHERS(strings, char)
INSIDE_OTHERS(aliases, PlanAlias)
INSIDE_OTHERS(skips, PlanString)
INSIDE_OTHERS(group_params, PlanGroupParam)
INSIDE_OTHERS(source_fields, PlanSourceField)
INSIDE_OTHERS(nodes, PlanNode)
INSIDE_OTHERS(node_operands, uint32_t)
INSIDE_OTHERS(node_words, uint64_t)
INSIDE_OTHERS(values, PlanValue)
INSIDE_OTHERS(steps, FormulaStep)
INSIDE_OTHERS(instrs, PlanInstr)
INSIDE_OTHERS(operands, uint32_t)
INSIDE_OTHERS(edges, uint32_t)
INSIDE_OTHERS(parts, StoredPart)

void dump_plan_text(const Plan *p, Buf *out) {
    Arena *a = arena_new();
    plan_at = p;
    types_at = arena_array(a, Type, plan_most_types(p) + 1);
    buf_printf(out, "plan version %u fingerprint %016llx\n", p->header->version,
               (Llu)p->header->fingerprint);
#define SECTION(field, type, name)                                                                 \
    for (uint64_t i = 0; i < p->n_##field; i++) put_##field(out, &p->field[i], i);
    PLAN_SECTIONS(SECTION)
#undef SECTION
    arena_free(a);
}

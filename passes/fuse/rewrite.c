/* One op in the place of several: the tables that a pass decides by, and the new list.
 *
 * The list is built in one walk: an op of a group is left out, a fused op is made at its place, and
 * from there on operands that were results of a group are read from the fused op.
 */
#include "rewrite.h"

#include <string.h>

#include "parts.h"
#include "passes.h"
#include "signature.h"

Rewrite rewrite_begin(Graph *g, uint32_t program) {
    Arena *a = g->scratch;
    Rewrite r = {.g = g, .program = program};
    r.position = arena_array(a, uint32_t, g->ops.n + 1);
    r.readers = arena_array(a, uint32_t, g->values.n + 1);
    r.reader = arena_array(a, uint32_t, g->values.n + 1);
    r.gone = arena_array(a, bool, g->ops.n + 1);
    r.instead = arena_array(a, uint32_t, g->ops.n + 1);
    r.n_values = g->values.n;
    r.became = arena_array(a, ValueId, g->values.n + 1);
    for (uint32_t v = 0; v < g->values.n; v++) r.became[v] = v;
    const Program *p = &g->programs.at[program];
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        r.position[p->ops.at[i]] = i;
        for (uint32_t k = 0; k < op->n_in; k++) {
            r.readers[op->in[k]]++;
            r.reader[op->in[k]] = i;
        }
    }
    return r;
}

bool rewrite_is_before(const Rewrite *r, ValueId v, uint32_t at) {
    return r->position[r->g->values.at[v].def] < at;
}

void rewrite_fuse(Rewrite *r, const Fused *f, uint32_t n, const OpId *group) {
    CHECK(f->n_in <= MOST_FUSED && f->n_out <= MOST_FUSED);
    /* Ranks of other stages compute on their own. */
    for (uint32_t k = 1; k < n; k++)
        if (r->g->ops.at[group[k]].stage != r->g->ops.at[group[0]].stage) return;
    for (uint32_t k = 0; k < n; k++) {
        CHECK(!r->gone[group[k]]);
        r->gone[group[k]] = true;
    }
    vec_push(r->g->scratch, &r->fused, *f);
    r->instead[f->place] = r->fused.n;
}

/* false: the name is another value's already. */
static bool name_value(ValueId *named, uint8_t name, ValueId v) {
    bool fits = named[name] == NO_VALUE || named[name] == v;
    named[name] = v;
    return fits;
}

void rewrite_parts(Rewrite *r, Fused f, const OpId *part) {
    const OpParts *parts = op_parts(f.kind);
    const Signature *s = op_signature(f.kind);
    ValueId named[PART_INNER + MOST_INNER], besides = NO_VALUE;
    OpId group[MOST_PARTS];
    uint32_t n = 0;
    bool fits = true;
    memset(named, 0xff, sizeof named);
    for (uint32_t k = 0; k < parts->n; k++) {
        const OpPart *is = &parts->part[k];
        if (part[k] == NO_OP) {
            named[is->out[0]] = named[is->in[0]];
            continue;
        }
        const Op *op = &r->g->ops.at[part[k]];
        bool turned = op->kind == OP_add && op->in[1] == named[is->in[0]];
        for (uint32_t i = 0; i < MIN(op->n_in, is->n_in); i++)
            fits &= name_value(named, is->in[i], op->in[turned ? 1 - i : i]);
        for (uint32_t j = 0; j < is->n_out; j++) fits &= name_value(named, is->out[j], op->out + j);
        if (op->n_in > is->n_in) besides = op->in[is->n_in];
        group[n++] = part[k];
    }
    for (uint32_t i = 0; i < s->n_in; i++)
        if (named[i] != NO_VALUE) f.in[f.n_in++] = named[i];
    if (besides != NO_VALUE) f.in[f.n_in++] = besides;
    for (uint32_t j = 0; j < s->n_out; j++) f.out[f.n_out++] = named[PART_RESULT + j];
    if (fits) rewrite_fuse(r, &f, n, group);
}

static void emit_fused(Rewrite *r, const Fused *f) {
    Graph *g = r->g;
    Op source = g->ops.at[f->source]; /* a copy: the table grows */
    Builder b = {.g = g, .program = r->program};
    builder_like(&b, &source);
    b.phase = g->ops.at[f->place].phase;
    ValueId in[MOST_FUSED];
    for (uint32_t k = 0; k < f->n_in; k++) in[k] = r->became[f->in[k]];
    OpId id = op_emit(&b, f->kind, f->attr ? f->attr : source.attr, f->n_in, in, NULL);
    CHECK(g->ops.at[id].n_out == f->n_out);
    g->ops.at[id].recomputed = source.recomputed;
    for (uint32_t j = 0; j < f->n_out; j++) {
        ValueId out = g->ops.at[id].out + j;
        if (f->out[j] == NO_VALUE) {
            g->values.at[out].type.dtype = g->values.at[f->like].type.dtype;
            g->values.at[out].type.pitch = g->values.at[f->like].type.pitch;
            continue;
        }
        g->values.at[out].type = g->values.at[f->out[j]].type;
        g->values.at[out].placement = g->values.at[f->out[j]].placement;
        r->became[f->out[j]] = out;
    }
}

void rewrite_end(Rewrite *r) {
    Graph *g = r->g;
    const OpList old = program_take(&g->programs.at[r->program]);
    for (uint32_t i = 0; i < old.n; i++) {
        OpId id = old.at[i];
        if (r->instead[id]) emit_fused(r, &r->fused.at[r->instead[id] - 1]);
        if (r->gone[id]) continue;
        if (r->before) r->before(r->context, id);
        Op *op = &g->ops.at[id];
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] < r->n_values) op->in[k] = r->became[op->in[k]];
        vec_push(g->arena, &g->programs.at[r->program].ops, id);
    }
}

void rewrite_programs(Graph *g, void (*visit)(Rewrite *r, uint32_t position, void *context),
                      void *context) {
    for (uint32_t k = 0; k < g->programs.n; k++) {
        Rewrite r = rewrite_begin(g, k);
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++) visit(&r, i, context);
        rewrite_end(&r);
    }
}

/* The human view of a plan: `fsdpc dump` without --raw.
 *
 * First the head: what is trained, how it is sharded, what a rank needs and sends; of a pipeline
 * the order of its calls. Then each program: how often it runs, which collectives overlap no
 * computation, its units, a picture of its memory (for the program with the peak), its
 * instructions. Nothing here knows what an instruction does: it prints what the plan says.
 * dump_text.c prints the complete form.
 */
#include <string.h>

#include "dump.h"

/* ---- collectives that overlap no computation */

/* For each collective, the instructions of the compute stream that may overlap it. It may begin
 * after the last one that its stream has waited for, and must be complete at the first one that
 * waits for its stream from there on. */
typedef struct OverlapSpan {
    uint64_t begin, end;
} OverlapSpan;

static bool awaits(const Plan *p, const PlanInstr *in, uint8_t stream, uint64_t *to) {
    bool any = false;
    for (uint32_t k = 0; k < in->n_edge; k++) {
        uint64_t at = p->edges[in->first_edge + k];
        if (p->instrs[at].stream != stream) continue;
        *to = any ? MAX(*to, at) : at;
        any = true;
    }
    return any;
}

static void find_overlap(const View *v, const PlanProgram *a, OverlapSpan *span) {
    const Plan *p = v->p;
    uint64_t first = a->first_instr, end = first + a->n_instr, to;
    uint64_t begin[STREAM_KINDS];
    uint32_t unfinished[STREAM_KINDS] = {0};
    for (int s = 0; s < STREAM_KINDS; s++) begin[s] = first;
    uint64_t *open = arena_array(v->a, uint64_t, (size_t)a->n_instr * STREAM_KINDS + 1);
    for (uint64_t i = first; i < end; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->stream != STREAM_COMPUTE) {
            if (awaits(p, in, STREAM_COMPUTE, &to))
                begin[in->stream] = MAX(begin[in->stream], to + 1);
            span[i - first] = (OverlapSpan){begin[in->stream], end};
            open[in->stream * (size_t)a->n_instr + unfinished[in->stream]++] = i;
            continue;
        }
        for (uint8_t s = 1; s < STREAM_KINDS; s++) {
            if (!awaits(p, in, s, &to)) continue;
            uint64_t *list = &open[s * (size_t)a->n_instr];
            uint32_t left = 0;
            for (uint32_t k = 0; k < unfinished[s]; k++) {
                if (list[k] <= to)
                    span[list[k] - first].end = i;
                else
                    list[left++] = list[k];
            }
            unfinished[s] = left;
        }
    }
}

static uint64_t overlapping_flops(const Plan *p, const OverlapSpan *b) {
    uint64_t flops = 0;
    for (uint64_t i = b->begin; i < b->end && !flops; i++)
        if (p->instrs[i].stream == STREAM_COMPUTE) flops += p->instrs[i].flops;
    return flops;
}

static void put_overlap(View *v, const PlanProgram *a) {
    enum { NAMED = 5 };
    const Plan *p = v->p;
    OverlapSpan *span = arena_array(v->a, OverlapSpan, a->n_instr + 1u);
    Buf alone = {0};
    uint32_t n = 0, bare = 0;
    find_overlap(v, a, span);
    for (uint32_t i = 0; i < a->n_instr; i++) {
        const PlanInstr *in = &p->instrs[a->first_instr + i];
        if (op_info[in->op].effect != EFFECT_COMM || in->stream == STREAM_COMPUTE) continue;
        n++;
        if (overlapping_flops(p, &span[i])) continue;
        if (bare++ < NAMED)
            buf_printf(&alone, "%s#%u %s %s", bare > 1 ? ", " : "", a->first_instr + i,
                       op_info[in->op].name,
                       in->attr.unit >= 0 ? view_unit(v, in->attr.unit) : "metrics");
    }
    char *line = arena_printf(v->a, "%u of %u collectives overlap computation", n - bare, n);
    if (bare) line = arena_printf(v->a, "%s; these do not: %.*s", line, (int)alone.n, alone.at);
    if (bare > NAMED) line = arena_printf(v->a, "%s, and %u more", line, bare - NAMED);
    if (n) view_line(v, line, 4);
    buf_free(&alone);
}

/* ---- programs */

static void put_program_title(View *v, const PlanProgram *a) {
    const Plan *p = v->p;
    int64_t times = 0;
    bool evaluation = false;
    for (uint64_t i = 0; i < p->n_calls; i++) {
        if (&p->programs[p->calls[i].program] != a) continue;
        if (p->calls[i].role != (plan_has_stages(p) ? plan_stage_role(p, a->stage) : 0)) continue;
        times += p->calls[i].times;
        evaluation = p->calls[i].kind == PLAN_EVALUATION;
    }
    const char *part = "";
    if (plan_has_stages(p))
        part = arena_printf(v->a, " of stage %u%s%s", a->stage, a->part ? ", " : "",
                            a->part ? word_of(&words_StagePart, a->part) : "");
    char *title = arena_printf(v->a, "program %s%s: %s%s; %u instructions, peak %s",
                               program_name((ProgramKind)a->kind), part,
                               times == 1 ? "once" : arena_printf(v->a, "%lld times", (Llu)times),
                               evaluation ? " for each batch of an evaluation" : " a step",
                               a->n_instr, amount_bytes(v->a, a->peak));
    buf_printf(v->out, "\n%s\n", title);
    for (size_t i = 0; i < strlen(title); i++) buf_printf(v->out, "=");
    buf_printf(v->out, "\n");
}

bool dump_plan_view(const Plan *p, const ViewOptions *options, Buf *out) {
    Arena *a = arena_new();
    View v = {.p = p, .a = a, .options = *options, .out = out};
    v.lives = lives_of(p, a);
    view_names(&v);
    if (!options->only) {
        view_head(&v);
        view_calls(&v);
    }
    uint64_t peak = lives_peak(p);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *program = &p->programs[i];
        put_program_title(&v, program);
        if (!options->only) put_overlap(&v, program);
        buf_printf(out, "\n");
        view_units(&v, program);
        if (!options->only && peak >= program->first_instr &&
            peak - program->first_instr < program->n_instr)
            view_strip(&v, program);
        view_rows(&v, program);
    }
    arena_free(a);
    return !options->only || v.found;
}

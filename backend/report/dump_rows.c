/* The instructions of a program in the human view: one line each, with a column for each stream.
 *
 * In: a program in issue order, names from dump_names.c. Out: lines like
 *
 *     #36    attention_packed attn <- attn.c_attn      400.0 MiB  |      |     18     3.1 GiB
 *
 * that is: its number; what the compute stream does and the size of its results; the other streams;
 * the line in the model file; the bytes live while it runs. The column of another stream shows `|`
 * while an instruction issued there is still running, and an arrow for a wait: `<- h.1` in the
 * column `gather` means that this line waits until the gather of h.1 is complete; `after reshard
 * h.2 ->` in the column `compute` means that the other stream's instruction on this line waits for
 * that reshard.
 *
 * Instructions that do nothing at run time (views, the entry and exit of states) are folded into
 * their readers, along with their waits. Rows are cut into segments: the instructions of one layer
 * in one phase; instructions that are not computation (a gather, a reshard, a pack) belong to the
 * segment in which they are issued. dump_fold.c finds segments that repeat an earlier one; these
 * print as one line.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"

enum { COLUMN_GAP = 2, NUMBER_WIDTH = 7, LINE_WIDTH = 6, LIVE_WIDTH = 8, MADE_WIDTH = 8 };
/* From this width on, the compute column has room for the types of results. */
enum { TYPES_FROM = 70 };

static const char *path_of(const View *v, const PlanInstr *in) {
    return plan_string(v->p, in->path);
}

/* ---- what a row says */

/* What the instruction is about: a unit, a batch field, the module. */
static const char *subject(const View *v, const PlanInstr *in, const char *layer) {
    const Plan *p = v->p;
    uint32_t attrs = op_info[in->op].attrs;
    if (in->op == OP_field) return plan_string(p, p->fields[in->attr.index].name);
    if (in->op == OP_state || in->op == OP_set_state)
        return plan_string(p, p->states[in->attr.index].name);
    if (in->op == OP_copy_out || in->op == OP_dequantize)
        return view_short(plan_string(p, p->params[in->attr.index].name), layer, "");
    if (attrs & A_group && in->attr.group >= 0) {
        const PlanGroup *g = &p->groups[in->attr.group];
        const PlanUnit *u = &p->units[g->unit];
        const char *unit = view_unit(v, g->unit);
        if (u->n_group < 2) return unit;
        return arena_printf(v->a, "%s/%lld", unit, (long long)in->attr.group - u->first_group);
    }
    if (attrs & A_unit && in->attr.unit >= 0) return view_unit(v, in->attr.unit);
    if (attrs & A_tag && in->attr.tag == TAG_METRIC) return "metrics";
    if (view_casts_parameter(p, in)) return view_short(v->name[in->first_out], layer, "");
    if (in->op == OP_cast) return view_unit(v, in->unit);
    if (in->op == OP_fetch) {
        const PlanInstr *from = &p->instrs[p->values[p->operands[in->first_in]].def];
        if (from->op == OP_state) return plan_string(p, p->states[from->attr.index].name);
    }
    const char *path = path_of(v, in);
    return strcmp(path, layer) ? view_short(path, layer, "") : "";
}

/* Whether it moves data between the unit's layout (param, or bytes) and single parameters. */
static bool moves_parameters(const PlanInstr *in) {
    return in->op == OP_copy_out || in->op == OP_copy_in || in->op == OP_amax ||
           in->op == OP_quantize || in->op == OP_dequantize;
}

static bool shows_operands(const PlanInstr *in) {
    return in->stream == STREAM_COMPUTE && op_info[in->op].effect == EFFECT_PURE &&
           op_info[in->op].alias != ALIAS_PACK && !moves_parameters(in) && in->op != OP_field &&
           in->op != OP_cast;
}

/* How many units a reduction covers besides the one that it names. */
static uint32_t other_units(const View *v, const PlanInstr *in) {
    const Plan *p = v->p;
    uint32_t n = 0;
    int32_t before = NO_INDEX;
    if (op_info[in->op].effect != EFFECT_COMM || in->attr.tag != TAG_GRADIENT) return 0;
    for (uint32_t k = 0; k < in->n_out; k++) { /* in a bucket, the groups of a unit are adjacent */
        int32_t group = view_reduced_group(p, in, k);
        int32_t unit = group == NO_INDEX ? NO_INDEX : (int32_t)p->groups[group].unit;
        n += unit != before && unit != (int32_t)in->attr.unit;
        before = unit;
    }
    return n;
}

static const char *row_text(const View *v, const PlanInstr *in, const char *layer) {
    Buf out = {0};
    const char *about = subject(v, in, layer);
    buf_printf(&out, "%s%s%s%s", in->flags & INSTR_RECOMPUTED ? "again " : "", op_info[in->op].name,
               *about ? " " : "", about);
    uint32_t others = other_units(v, in);
    if (others) buf_printf(&out, " + %u unit%s", others, others > 1 ? "s" : "");
    for (uint32_t k = 0; shows_operands(in) && k < in->n_in; k++) {
        const char *name = v->name[v->p->operands[in->first_in + k]];
        buf_printf(&out, "%s%s", k ? ", " : " <- ", view_short(name, layer, path_of(v, in)));
    }
    if (in->op == OP_unshard && v->p->values[v->p->operands[in->first_in]].slots)
        buf_printf(&out, " in place");
    return buf_text(v->a, &out);
}

/* The type of the first result that has memory of its own. */
static const char *result_type(const View *v, const PlanInstr *in) {
    for (uint32_t k = in->first_out; k < in->first_out + in->n_out; k++)
        if (v->lives.category[k] < CATEGORY_COUNT) return type_text(v->a, &v->p->values[k].type);
    return "";
}

static const char *made_text(const View *v, const PlanInstr *in) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < in->n_out; k++)
        if (v->lives.category[in->first_out + k] < CATEGORY_COUNT)
            bytes += (uint64_t)type_bytes(&v->p->values[in->first_out + k].type);
    return bytes ? amount_short(v->a, bytes) : "";
}

/* ---- rows and segments */

/* Whether the instruction belongs to the model's computation or to the update: its position in the
 * model is then that of the row. */
static bool leads_segment(const PlanInstr *in) {
    const OpInfo *op = &op_info[in->op];
    if (in->stream != STREAM_COMPUTE || op->effect != EFFECT_PURE) return false;
    return op->alias != ALIAS_PACK && !moves_parameters(in) && in->op != OP_accumulate;
}

static void start_segment(View *v, ViewRows *r, const PlanInstr *in) {
    ViewSegment *last = r->segments.n ? &r->segments.at[r->segments.n - 1] : NULL;
    if (last && !leads_segment(in)) return;
    const char *layer = leads_segment(in) ? view_layer(v, path_of(v, in)) : "";
    if (last && last->phase == in->phase && !strcmp(last->layer, layer)) return;
    ViewSegment s = {.layer = layer, .first = r->rows.n, .phase = in->phase};
    vec_push(v->a, &r->segments, s);
}

typedef struct Flight {
    uint32_t issued[STREAM_KINDS], done[STREAM_KINDS]; /* 1 + instruction, by stream */
    uint32_t waits[STREAM_KINDS][STREAM_KINDS]; /* of silent instructions of the first stream */
} Flight;

static void follow_waits(const View *v, Flight *f, const PlanInstr *in) {
    for (uint32_t k = 0; k < in->n_edge; k++) {
        uint32_t to = v->p->edges[in->first_edge + k];
        uint32_t *wait = &f->waits[in->stream][v->p->instrs[to].stream];
        *wait = MAX(*wait, to + 1);
    }
}

static void add_row(View *v, ViewRows *r, Flight *f, uint64_t i) {
    const PlanInstr *in = &v->p->instrs[i];
    start_segment(v, r, in);
    ViewSegment *s = &r->segments.at[r->segments.n - 1];
    ViewRow row = {.instr = i, .segment = r->segments.n - 1};
    row.text = row_text(v, in, in->phase == PHASE_UPDATE ? "" : s->layer);
    row.formula = view_formula(v, in, s->layer);
    row.made = made_text(v, in);
    for (int k = 0; k < STREAM_KINDS; k++) {
        row.awaited[k] = k == in->stream ? 0 : f->waits[in->stream][k];
        f->waits[in->stream][k] = 0;
        f->done[k] = MAX(f->done[k], row.awaited[k]);
        if (k && f->issued[k] > f->done[k]) row.in_flight |= (uint8_t)(1 << k);
    }
    f->issued[in->stream] = (uint32_t)i + 1;
    s->n++;
    s->flops += (double)in->flops;
    vec_push(v->a, &r->rows, row);
}

static ViewRows rows_of(View *v, const PlanProgram *program) {
    ViewRows r = {0};
    Flight f = {0};
    for (uint64_t i = 0; i < program->n_instr; i++) {
        const PlanInstr *in = &v->p->instrs[program->first_instr + i];
        follow_waits(v, &f, in);
        if (v->options.all || !view_silent(in)) add_row(v, &r, &f, program->first_instr + i);
    }
    for (uint32_t k = 0; k < r.segments.n; k++) r.segments.at[k].like = k;
    return r;
}

/* ---- columns */

typedef struct Columns {
    bool used[STREAM_KINDS];
    int width[STREAM_KINDS];
} Columns;

/* "<- h.1" in a stream's column: the row waits for that. */
static const char *arrow_text(const View *v, uint32_t instr, bool of_compute) {
    const PlanInstr *in = &v->p->instrs[instr];
    const char *about = subject(v, in, "");
    if (of_compute)
        return arena_printf(v->a, "after %s%s%s ->", op_info[in->op].name, *about ? " " : "",
                            about);
    return arena_printf(v->a, "<- %s", about);
}

static Columns columns_of(const View *v, const ViewRows *r) {
    enum { LEAST = 6, MOST = 24 };
    Columns c = {.used = {true}};
    int rest = VIEW_WIDTH - NUMBER_WIDTH - LINE_WIDTH - LIVE_WIDTH - COLUMN_GAP;
    for (uint32_t i = 0; i < r->rows.n; i++) {
        const ViewRow *row = &r->rows.at[i];
        for (int k = 1; k < STREAM_KINDS; k++) {
            int n = row->awaited[k] ? (int)strlen(arrow_text(v, row->awaited[k] - 1, false)) : 0;
            if (v->p->instrs[row->instr].stream == k) n = (int)strlen(row->text);
            if (n) c.used[k] = true;
            c.width[k] = MAX(c.width[k], MIN(n, MOST));
        }
    }
    for (int k = 1; k < STREAM_KINDS; k++) {
        c.width[k] = c.used[k] ? MAX(c.width[k], LEAST) : 0;
        if (c.used[k]) rest -= c.width[k] + COLUMN_GAP;
    }
    c.width[STREAM_COMPUTE] = rest;
    return c;
}

/* Prints text in a field of n characters. If it is longer, ".." replaces the operands that do not
 * fit. */
static void put_cell(View *v, Buf *out, const char *text, int n, bool right) {
    int length = (int)strlen(text), cut = MAX(n - 2, 0);
    if (length > n) {
        while (cut > n / 2 && strncmp(text + cut - 2, ", ", 2)) cut--;
        if (cut <= n / 2) cut = MAX(n - 2, 0);
        text = arena_printf(v->a, "%.*s..", cut, text);
    }
    buf_printf(out, right ? "%*s" : "%-*s", n, text);
}

static void put_stream_cell(View *v, Buf *out, const ViewRow *row, int stream, int width) {
    const PlanInstr *in = &v->p->instrs[row->instr];
    const char *text = "";
    if (row->awaited[stream])
        text = arrow_text(v, row->awaited[stream] - 1, stream == STREAM_COMPUTE);
    else if (row->in_flight >> stream & 1)
        text = "|";
    if (stream == in->stream) text = row->text;
    if (stream == STREAM_COMPUTE && in->stream == STREAM_COMPUTE) {
        const char *type = width >= TYPES_FROM ? result_type(v, in) : "";
        int room = width - MADE_WIDTH - 1, n = (int)strlen(type);
        if (n && (int)strlen(text) + COLUMN_GAP + n <= room) room -= n;
        put_cell(v, out, text, room, false);
        if (room < width - MADE_WIDTH - 1) buf_printf(out, "%s", type);
        buf_printf(out, " %*s", MADE_WIDTH, row->made);
    } else {
        put_cell(v, out, text, width, stream == STREAM_COMPUTE);
    }
}

static void put_line(View *v, const char *text) {
    size_t n = strlen(text);
    while (n && text[n - 1] == ' ') n--;
    buf_printf(v->out, "%.*s\n", (int)n, text);
}

/* Whether the formula fits in place of the operands; otherwise it gets lines of its own below the
 * row. */
static bool fits_formula(const ViewRow *row, const Columns *c) {
    int room = c->width[STREAM_COMPUTE] - MADE_WIDTH - 1;
    return row->formula && !strchr(row->formula, ';') &&
           (int)(strlen("fused ") + strlen(row->formula)) <= room;
}

static void put_row(View *v, const ViewRow *given, const Columns *c) {
    ViewRow copy = *given, *row = &copy;
    const PlanInstr *in = &v->p->instrs[row->instr];
    bool fits = fits_formula(row, c);
    Buf out = {0};
    if (fits) row->text = arena_printf(v->a, "fused %s", row->formula);
    char number[24], line[40] = "";
    snprintf(number, sizeof number, "#%llu", (Llu)row->instr);
    buf_printf(&out, "%-*s", NUMBER_WIDTH, number);
    for (int k = 0; k < STREAM_KINDS; k++) {
        if (!c->used[k]) continue;
        put_stream_cell(v, &out, row, k, c->width[k]);
        buf_printf(&out, "%*s", COLUMN_GAP, "");
    }
    if (in->file == 1) snprintf(line, sizeof line, "%u", in->line);
    if (in->file > 1) snprintf(line, sizeof line, "%u:%u", in->file, in->line);
    buf_printf(&out, "%*s", LINE_WIDTH - COLUMN_GAP, line);
    buf_printf(&out, "%*s%*s", COLUMN_GAP, "", LIVE_WIDTH, amount_short(v->a, in->live_bytes));
    put_line(v, buf_text(v->a, &out));
    if (!row->formula || fits) return;
    const char *equals = strstr(row->formula, " = ") ? "" : "= ";
    const char *below = arena_printf(v->a, "%*s%s%s", NUMBER_WIDTH + 2, "", equals, row->formula);
    view_line(v, below, NUMBER_WIDTH + 4);
}

static void put_titles(View *v, const Columns *c) {
    Buf out = {0};
    buf_printf(&out, "%*s", NUMBER_WIDTH, "");
    for (int k = 0; k < STREAM_KINDS; k++) {
        if (!c->used[k]) continue;
        put_cell(v, &out, stream_name(k), c->width[k] - (k ? 0 : MADE_WIDTH + 1), false);
        if (!k) buf_printf(&out, " %*s", MADE_WIDTH, "writes");
        buf_printf(&out, "%*s", COLUMN_GAP, "");
    }
    buf_printf(&out, "%*s%*s%*s", LINE_WIDTH - COLUMN_GAP, "line", COLUMN_GAP, "", LIVE_WIDTH,
               "live");
    put_line(v, buf_text(v->a, &out));
}

/* ---- segments */

static void put_heading(View *v, const ViewSegment *s) {
    const Plan *p = v->p;
    const char *class = "", *layer = s->phase == PHASE_UPDATE ? "" : s->layer;
    for (uint64_t u = 0; u < p->n_units; u++)
        if (s->phase != PHASE_UPDATE && !strcmp(plan_string(p, p->units[u].name), layer))
            class = plan_string(p, p->units[u].class_name);
    const char *work = s->flops && s->phase != PHASE_UPDATE ? amount_flops(v->a, s->flops) : "";
    char *left =
        arena_printf(v->a, "--- %s%s%s%s%s ", phase_name(s->phase), *layer || *class ? " " : "",
                     layer, *layer && *class ? " " : "", class);
    int dashes = VIEW_WIDTH - (int)strlen(left) - (int)strlen(work) - (*work != 0);
    buf_printf(v->out, "%s", left);
    for (int i = 0; i < dashes; i++) buf_printf(v->out, "-");
    buf_printf(v->out, "%s%s\n", *work ? " " : "", work);
}

static const PlanInstr *instr_of(const View *v, const ViewRows *r, uint32_t row) {
    return &v->p->instrs[r->rows.at[row].instr];
}

/* Prints the segments from `at` on that repeat earlier ones as one line; returns the next
 * segment. */
static uint32_t put_folded(View *v, const ViewRows *r, uint32_t at, uint64_t peak) {
    const ViewSegment *s = &r->segments.at[at];
    uint32_t end = at, period = at - s->like, rows = 0;
    while (end < r->segments.n && r->segments.at[end].like == s->like + (end - at) % period)
        rows += r->segments.at[end++].n;
    const ViewSegment *last = &r->segments.at[end - 1];
    uint32_t first_row = s->first, last_row = last->first + last->n - 1;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = first_row; i <= last_row; i++) {
        low = MIN(low, instr_of(v, r, i)->live_bytes);
        high = MAX(high, instr_of(v, r, i)->live_bytes);
    }
    uint32_t times = (end - at) / period;
    buf_printf(v->out, "=== %s %s", phase_name(s->phase), s->layer);
    if (end - at > 1) buf_printf(v->out, " .. %s", last->layer);
    for (uint32_t k = 0; k < period; k++)
        buf_printf(v->out, "%s%s", k ? ", " : " as ", r->segments.at[s->like + k].layer);
    uint32_t each = rows / times;
    buf_printf(v->out, ": ");
    if (times > 1) buf_printf(v->out, "%u x ", times);
    buf_printf(v->out, "%u line%s, #%llu .. #%llu; live %s", each, each == 1 ? "" : "s",
               (Llu)r->rows.at[first_row].instr, (Llu)r->rows.at[last_row].instr,
               amount_short(v->a, low));
    if (low != high) buf_printf(v->out, " to %s", amount_short(v->a, high));
    if (peak >= r->rows.at[first_row].instr && peak <= r->rows.at[last_row].instr)
        buf_printf(v->out, ", the peak at #%llu", (Llu)peak);
    buf_printf(v->out, "\n");
    return end;
}

static bool wanted_row(const View *v, const PlanInstr *in) {
    if (!v->options.only) return true;
    uint32_t attrs = op_info[in->op].attrs;
    bool unit = attrs & A_unit && in->attr.unit >= 0;
    return view_wanted(v, path_of(v, in)) || (unit && view_wanted(v, view_unit(v, in->attr.unit)));
}

static void put_segment(View *v, const ViewRows *r, const ViewSegment *s, const Columns *c,
                        uint64_t peak, bool updating) {
    bool begun = false;
    for (uint32_t i = s->first; i < s->first + s->n; i++) {
        if (!wanted_row(v, instr_of(v, r, i))) continue;
        if (!begun && !(s->phase == PHASE_UPDATE && updating)) put_heading(v, s);
        begun = true;
        v->found++;
        put_row(v, &r->rows.at[i], c);
        if (r->rows.at[i].instr == peak)
            buf_printf(v->out, "%*s==== the peak: %s live ====\n", NUMBER_WIDTH, "",
                       amount_short(v->a, v->p->instrs[peak].live_bytes));
    }
}

void view_rows(View *v, const PlanProgram *program) {
    ViewRows r = rows_of(v, program);
    Columns c = columns_of(v, &r);
    uint64_t peak = lives_peak(v->p);
    if (!v->options.all && !v->options.only) view_fold(v, &r);
    put_titles(v, &c);
    for (uint32_t i = 0; i < r.segments.n;) {
        if (r.segments.at[i].like != i) {
            i = put_folded(v, &r, i, peak);
        } else {
            bool updating = i && r.segments.at[i - 1].phase == PHASE_UPDATE;
            put_segment(v, &r, &r.segments.at[i], &c, peak, updating);
            i++;
        }
    }
}

/* One line per unit: between which instructions its parameters are gathered, for what and why, and
 * where its gradient is reduced. Consecutive units that behave alike share a line; layers of
 * several units that behave alike are folded into the first one.
 *
 * A unit is gathered from its unshard (on one rank: from the cast to the compute dtype) to its
 * reshard, or to its last reader. The phases of its readers say what it is gathered for.
 */
#include <string.h>

#include "dump.h"

enum { PERIOD_MOST = 16 };

typedef struct Gathered {
    uint32_t unit;
    uint64_t from, to;                    /* instructions */
    uint64_t forward_end, backward_begin; /* last reader in forward, first in backward */
    uint8_t phases;                       /* 1 << phase of each reader */
    bool by_cast, released;
    int32_t next; /* of the same unit, or -1 */
} Gathered;

typedef struct UnitHistory {
    int32_t first, last; /* rows of gathered, or -1 */
    uint64_t reduced;    /* 1 + instruction, or 0 */
} UnitHistory;

typedef struct Units {
    View *v;
    const PlanProgram *program;
    VEC(Gathered) gathered;
    UnitHistory *unit;
    int32_t *of;   /* by value: the row of `gathered` that it belongs to, or -1 */
    uint64_t base; /* first value of the program */
} Units;

/* ---- what the program does with each unit */

static void begin_gather(Units *u, int64_t unit, uint64_t i, bool by_cast) {
    Gathered g = {.unit = (uint32_t)unit, .from = i, .to = i, .by_cast = by_cast, .next = -1};
    UnitHistory *of = &u->unit[unit];
    int32_t row = (int32_t)u->gathered.n;
    vec_push(u->v->a, &u->gathered, g);
    if (of->last >= 0)
        u->gathered.at[of->last].next = row;
    else
        of->first = row;
    of->last = row;
}

static void read_value(Gathered *g, const PlanInstr *in, uint64_t i) {
    if (in->op == OP_reshard) {
        g->released = true;
    } else {
        g->phases |= (uint8_t)(1 << in->phase);
        if (in->phase == PHASE_FORWARD) g->forward_end = i;
        if (in->phase == PHASE_BACKWARD && !g->backward_begin) g->backward_begin = i;
    }
    g->to = MAX(g->to, i);
}

int32_t view_reduced_group(const Plan *p, const PlanInstr *in, uint32_t k) {
    for (uint64_t steps = 0; steps <= p->n_instrs; steps++) {
        uint32_t v = p->operands[in->first_in + k];
        in = &p->instrs[p->values[v].def];
        if (in->op == OP_pack || in->op == OP_copy_in) return (int32_t)in->attr.group;
        if (in->op == OP_state) return p->states[in->attr.index].group;
        if (in->n_in == 0) break;
        k = MIN(v - in->first_out, in->n_in - 1);
    }
    return NO_INDEX;
}

static void note_reduced(Units *u, const PlanInstr *in, uint64_t i) {
    const Plan *p = u->v->p;
    for (uint32_t k = 0; k < in->n_out; k++) {
        int32_t group = view_reduced_group(p, in, k);
        if (group == NO_INDEX) continue;
        UnitHistory *unit = &u->unit[p->groups[group].unit];
        if (!unit->reduced) unit->reduced = i + 1;
    }
}

static void follow_instr(Units *u, uint64_t i) {
    const Plan *p = u->v->p;
    const PlanInstr *in = &p->instrs[i];
    bool view =
        op_info[in->op].alias == ALIAS_VIEW || in->op == OP_copy_out || in->op == OP_dequantize;
    int32_t row = -1;
    for (uint32_t k = 0; k < in->n_in; k++) {
        int32_t of = u->of[p->operands[in->first_in + k] - u->base];
        if (of >= 0 && !view) read_value(&u->gathered.at[of], in, i);
        if (of >= 0 && view) row = of;
    }
    bool made = (in->op == OP_cast && !view_casts_parameter(p, in)) || in->op == OP_quantize;
    bool cast = made && in->unit >= 0 && !p->values[in->first_out].slots &&
                u->v->lives.category[in->first_out] == HOLDS_GATHERED;
    if (cast && u->unit[in->unit].last >= 0 &&
        u->gathered.at[u->unit[in->unit].last].from + 1 == i) {
        row = u->unit[in->unit].last; /* the next group of the same unit */
        u->gathered.at[row].from = i;
    } else if (cast) {
        begin_gather(u, in->unit, i, true);
        row = u->unit[in->unit].last;
    } else if (in->op == OP_unshard && in->attr.unit >= 0) {
        begin_gather(u, in->attr.unit, i, false);
        row = u->unit[in->attr.unit].last;
    }
    for (uint32_t k = 0; k < in->n_out; k++) u->of[in->first_out + k - u->base] = row;
    bool reduces = in->op == OP_reduce_scatter || in->op == OP_all_reduce;
    if (reduces && in->attr.tag == TAG_GRADIENT) note_reduced(u, in, i);
}

/* ---- words */

static bool others_between(const Units *u, const Gathered *g) {
    for (uint64_t i = g->forward_end + 1; i < g->backward_begin; i++) {
        const PlanInstr *in = &u->v->p->instrs[i];
        if (in->flops && in->unit >= 0 && in->unit != (int32_t)g->unit) return true;
    }
    return false;
}

static const char *reason(const Units *u, const Gathered *g) {
    bool both = g->phases >> PHASE_FORWARD & g->phases >> PHASE_BACKWARD & 1;
    if (!both) return "";
    if (!others_between(u, g)) return " (its backward follows at once)";
    if (!*plan_string(u->v->p, u->v->p->units[g->unit].name)) return " (reshard_root = false)";
    return " (kept: reshard = false, or strategy = grads or states)";
}

/* Why it was gathered again: it had been resharded to all ranks, or to groups of ranks. */
static void put_resharded(const Units *u, Buf *out, const Gathered *g) {
    const Plan *p = u->v->p;
    Mesh mesh = plan_mesh(p);
    AxisSet axes = (AxisSet)p->instrs[g->from].attr.axes;
    if (axes == p->groups[p->units[g->unit].first_group].split)
        buf_printf(out, " (reshard = true)");
    else
        buf_printf(out, " (reshard = %lld)", (long long)mesh_extent(&mesh, axes));
}

static void put_range(Buf *out, uint64_t from, uint64_t to, bool numbers) {
    if (numbers) buf_printf(out, " #%llu..#%llu", (Llu)from, (Llu)to);
}

static void put_gathered(const Units *u, Buf *out, const Gathered *g, bool again, bool numbers) {
    static const char *const words[] = {[1 << PHASE_FORWARD] = " for forward",
                                        [1 << PHASE_BACKWARD] = " for backward",
                                        [1 << PHASE_FORWARD | 1 << PHASE_BACKWARD] =
                                            " for forward and backward"};
    buf_printf(out, "%s%s", again ? "; again" : "",
               g->by_cast ? " cast"
               : again    ? ""
                          : " gathered");
    put_range(out, g->from, g->to, numbers);
    bool known = g->phases < ARRAY_LEN(words) && words[g->phases];
    buf_printf(out, "%s", known ? words[g->phases] : "");
    if (again && !g->by_cast)
        put_resharded(u, out, g);
    else
        buf_printf(out, "%s", reason(u, g));
}

/* Why this program does not gather the unit. */
static const char *ungathered(const View *v, const PlanUnit *unit) {
    const Plan *p = v->p;
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        bool own = s->group >= 0 && s->role == STATE_GATHERED && holds_all(p, s) &&
                   &p->units[p->groups[s->group].unit] == unit;
        if (own) return " stays gathered from another program on";
    }
    if (p->settings->ranks == 1) return " whole on the only rank";
    bool split = false;
    for (uint64_t k = 0; k < p->n_groups; k++) split |= p->groups[k].split != 0;
    if (unit->n_group && !p->groups[unit->first_group].split && p->groups[unit->first_group].cut)
        return " each rank holds the part that it computes with";
    if (unit->n_group && !p->groups[unit->first_group].split)
        return split ? " whole on every rank (replicate)"
                     : " whole on every rank (strategy = none)";
    return " not read";
}

static const char *unit_text(const Units *u, uint64_t i, bool numbers) {
    Buf out = {0};
    const UnitHistory *unit = &u->unit[i];
    for (int32_t k = unit->first; k >= 0; k = u->gathered.at[k].next)
        put_gathered(u, &out, &u->gathered.at[k], k != unit->first, numbers);
    if (unit->first < 0) buf_printf(&out, "%s", ungathered(u->v, &u->v->p->units[i]));
    if (unit->reduced) {
        buf_printf(&out, "; reduced");
        if (numbers) buf_printf(&out, " #%llu", (Llu)unit->reduced - 1);
    }
    const char *text = buf_text(u->v->a, &out);
    return text + (*text == ' ');
}

/* ---- lines */

static bool alike(const Units *u, uint64_t a, uint64_t b) {
    const Plan *p = u->v->p;
    const PlanUnit *x = &p->units[a], *y = &p->units[b];
    return x->owned == y->owned &&
           !strcmp(plan_string(p, x->class_name), plan_string(p, y->class_name)) &&
           !strcmp(unit_text(u, a, false), unit_text(u, b, false));
}

/* The name of the unit inside its layer ("attn.c_attn"); NULL if it is in no layer or is the whole
 * layer. */
static const char *inner_name(const View *v, uint64_t unit) {
    const char *name = plan_string(v->p, v->p->units[unit].name), *layer = view_layer(v, name);
    return *layer && strcmp(name, layer) ? view_short(name, layer, "") : NULL;
}

/* How many units after the first `period` ones repeat them: the same units of other layers. */
static uint64_t count_repeats(const Units *u, uint64_t first, uint64_t period) {
    uint64_t n = 0;
    for (uint64_t i = first + period; i < u->v->p->n_units; i++, n++) {
        const char *x = inner_name(u->v, i), *y = inner_name(u->v, i - period);
        if (!x || !y || strcmp(x, y) || !alike(u, i, i - period)) break;
    }
    return n / period * period;
}

/* A line: the units first to last, all alike; or, with a period, a note that they repeat the
 * `period` ones before them. */
typedef struct Line {
    uint64_t first, last, period;
    const char *name;
} Line;

typedef struct Lines {
    VEC(Line) at;
} Lines;

static void add_units(View *v, Lines *lines, uint64_t first, uint64_t last) {
    const char *name = view_unit(v, (int64_t)first);
    if (!view_wanted(v, name)) return;
    if (last > first) name = arena_printf(v->a, "%s .. %s", name, view_unit(v, (int64_t)last));
    name = arena_printf(v->a, "%s  %s", name, plan_string(v->p, v->p->units[first].class_name));
    Line line = {first, last, 0, name};
    vec_push(v->a, &lines->at, line);
}

static Lines lines_of(const Units *u) {
    Lines lines = {0};
    View *v = u->v;
    bool fold = !v->options.all && !v->options.only;
    for (uint64_t i = 0, end; i < v->p->n_units; i = end) {
        uint64_t period = 1, more = 0;
        for (uint64_t k = 2; fold && k <= PERIOD_MOST && !more; k++)
            if ((more = count_repeats(u, i, k))) period = k;
        for (end = i + 1; fold && !more && end < v->p->n_units && alike(u, i, end);) end++;
        if (!more) add_units(v, &lines, i, end - 1);
        if (!more) continue;
        for (uint64_t k = 0; k < period; k++) add_units(v, &lines, i + k, i + k);
        Line line = {i + period, i + period + more - 1, period, NULL};
        vec_push(v->a, &lines.at, line);
        end = i + period + more;
    }
    return lines;
}

/* "h.1 .. h.11 as h.0: 11 x 4 units" */
static void put_repeated(View *v, const Line *line) {
    const Plan *p = v->p;
    const char *like = view_layer(v, plan_string(p, p->units[line->first - line->period].name));
    const char *from = view_layer(v, plan_string(p, p->units[line->first].name));
    const char *to = view_layer(v, plan_string(p, p->units[line->last].name));
    buf_printf(v->out, "  %s", from);
    if (strcmp(from, to)) buf_printf(v->out, " .. %s", to);
    buf_printf(v->out, " as %s: %llu x %llu units\n", like,
               (Llu)((line->last - line->first + 1) / line->period), (Llu)line->period);
}

static void put_lines(const Units *u, const Lines *lines) {
    enum { COUNT_WIDTH = 6, NAME_MOST = 40 };
    View *v = u->v;
    int width = 0;
    bool folded = false;
    for (uint32_t i = 0; i < lines->at.n; i++) {
        const Line *line = &lines->at.at[i];
        if (line->name) width = MIN(MAX(width, (int)strlen(line->name)), NAME_MOST);
        folded |= line->last > line->first;
    }
    buf_printf(v->out, "%-*s %*s%s\n", width + 2, "units", COUNT_WIDTH, "params",
               folded ? "  (numbers are those of the first unit of a line)" : "");
    for (uint32_t i = 0; i < lines->at.n; i++) {
        const Line *line = &lines->at.at[i];
        if (line->period) {
            put_repeated(v, line);
            continue;
        }
        const char *text = arena_printf(v->a, "  %-*s %*s  %s", width, line->name, COUNT_WIDTH,
                                        amount_count(v->a, v->p->units[line->first].owned),
                                        unit_text(u, line->first, true));
        view_line(v, text, width + COUNT_WIDTH + 5);
    }
    buf_printf(v->out, "\n");
}

void view_units(View *v, const PlanProgram *program) {
    const Plan *p = v->p;
    const PlanInstr *instr = &p->instrs[program->first_instr];
    uint64_t values = 0;
    for (uint32_t i = 0; i < program->n_instr; i++) values += instr[i].n_out;
    Units u = {.v = v, .program = program, .base = program->n_instr ? instr->first_out : 0};
    u.unit = arena_array(v->a, UnitHistory, p->n_units + 1);
    u.of = arena_array(v->a, int32_t, values + 1);
    for (uint64_t i = 0; i < p->n_units; i++) u.unit[i].first = u.unit[i].last = -1;
    for (uint64_t i = 0; i < values; i++) u.of[i] = -1;
    for (uint32_t i = 0; i < program->n_instr; i++)
        follow_instr(&u, program->first_instr + (uint64_t)i);
    Lines lines = lines_of(&u);
    if (lines.at.n) put_lines(&u, &lines);
    v->found += lines.at.n;
}

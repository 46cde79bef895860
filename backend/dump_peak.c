/* The predicted peak for `dump --format=json`: by device kind, and what it consists of.
 *
 * States have their category from their role. For the rest the instruction with the most live
 * bytes of all programs is the moment that counts; every value that is live there gives its
 * addresses to a category, each byte once, gradients before gathered parameters before others.
 * `lower_bound` is the number of live bytes at that moment: no arrangement needs less.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

typedef enum Category {
    HOLDS_GRADIENTS,
    HOLDS_GATHERED,
    HOLDS_ACTIVATIONS,
    HOLDS_PARAMETERS,
    HOLDS_MOMENTS,
    HOLDS_OTHER,
    CATEGORIES
} Category;

static const char *const category_names[CATEGORIES] = {
    "gradients", "gathered_parameters", "activations", "parameters", "optimizer", "other"};

/* A border of a value's range: addresses from here on have one holder more, or less. */
typedef struct Border {
    uint64_t at;
    int32_t change;
    Category category;
} Border;

typedef struct Moment {
    const Plan *p;
    uint64_t instr;
    const PlanProgram *program;
    uint64_t *last;  /* by value: the last instruction that reads it or a view of it */
    uint64_t *first; /* by value: when its memory is taken */
    Border *border;
    size_t n;
} Moment;

static void *zeroed(size_t n, size_t size) {
    void *at = calloc(n + 1, size);
    if (!at) fail_environment("no memory for a report");
    return at;
}

static Category state_category(uint32_t role) {
    switch (role) {
    case STATE_PARAM: return HOLDS_PARAMETERS;
    case STATE_MOMENT1:
    case STATE_MOMENT2: return HOLDS_MOMENTS;
    case STATE_GRADIENT: return HOLDS_GRADIENTS;
    case STATE_GATHERED: return HOLDS_GATHERED;
    default: return HOLDS_OTHER;
    }
}

static Category value_category(const PlanInstr *def) {
    switch (def->op) {
    case OP_unshard:
    case OP_cast: return HOLDS_GATHERED;
    case OP_pack:
    case OP_reduce_scatter:
    case OP_accumulate: return HOLDS_GRADIENTS;
    case OP_all_reduce: return def->attr.group >= 0 ? HOLDS_GRADIENTS : HOLDS_ACTIVATIONS;
    default: return HOLDS_ACTIVATIONS;
    }
}

static void add_range(Moment *m, uint64_t from, uint64_t bytes, Category category) {
    if (!bytes) return;
    m->border[m->n++] = (Border){from, 1, category};
    m->border[m->n++] = (Border){from + bytes, -1, category};
}

/* Spans of values: a view's readers are its operand's; a pack's memory is taken with its first
 * operand. */
static void find_spans(Moment *m) {
    const Plan *p = m->p;
    uint64_t end = m->program->first_instr + (uint64_t)m->program->n_instr;
    for (uint64_t i = end; i-- > m->program->first_instr;) {
        const PlanInstr *in = &p->instrs[i];
        bool view = op_info[in->op].alias == ALIAS_VIEW, pack = op_info[in->op].alias == ALIAS_PACK;
        uint64_t at = view ? MAX(i, m->last[in->first_out]) : i;
        if (view && !m->last[in->first_out]) at = 0;
        for (uint32_t k = 0; k < in->n_out; k++) m->first[in->first_out + k] = i;
        for (uint32_t k = 0; k < in->n_in; k++) {
            uint32_t v = p->operands[in->first_in + k];
            m->last[v] = MAX(m->last[v], at);
            if (pack) m->first[in->first_out] = MIN(m->first[in->first_out], p->values[v].def);
        }
    }
}

static void find_ranges(Moment *m) {
    const Plan *p = m->p;
    for (uint64_t i = 0; i < p->n_states; i++)
        add_range(m, p->states[i].address, (uint64_t)type_bytes(&p->states[i].type),
                  state_category(p->states[i].role));
    uint64_t end = m->program->first_instr + (uint64_t)m->program->n_instr;
    for (uint64_t i = m->program->first_instr; i < end; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op == OP_state || op_info[in->op].alias == ALIAS_VIEW) continue;
        for (uint32_t k = in->first_out; k < in->first_out + in->n_out; k++) {
            const PlanValue *v = &p->values[k];
            if (v->type.dtype == DT_TOKEN || m->first[k] > m->instr) continue;
            if (v->address < p->settings->persistent_bytes) continue;
            if (m->last[k] >= m->instr || i == m->instr)
                add_range(m, v->address, (uint64_t)type_bytes(&v->type), value_category(in));
        }
    }
}

static int by_address(const void *a, const void *b) {
    const Border *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Each byte once: a sweep over addresses; what several hold goes to the first category. */
static void add_up(Moment *m, uint64_t bytes[CATEGORIES]) {
    int64_t holders[CATEGORIES] = {0};
    qsort(m->border, m->n, sizeof *m->border, by_address);
    for (size_t i = 0; i + 1 < m->n; i++) {
        int c = 0;
        holders[m->border[i].category] += m->border[i].change;
        while (c < CATEGORIES && !holders[c]) c++;
        if (c < CATEGORIES) bytes[c] += m->border[i + 1].at - m->border[i].at;
    }
}

static void find_moment(Moment *m) {
    const Plan *p = m->p;
    m->program = p->programs;
    for (uint64_t k = 0; k < p->n_programs; k++) {
        const PlanProgram *a = &p->programs[k];
        for (uint64_t i = a->first_instr; i < a->first_instr + (uint64_t)a->n_instr; i++)
            if (p->instrs[i].live_bytes > p->instrs[m->instr].live_bytes) {
                m->instr = i;
                m->program = a;
            }
    }
}

static void put(json_t *object, const char *key, uint64_t n) {
    if (json_object_set_new(object, key, json_integer((json_int_t)n)))
        fail_environment("no memory for JSON");
}

json_t *dump_peak_json(const Plan *p) {
    const PlanSettings *s = p->settings;
    Moment m = {.p = p};
    uint64_t bytes[CATEGORIES] = {0}, sum = 0;
    json_t *o = json_object(), *categories = json_object();
    if (!o || !categories) fail_environment("no memory for JSON");
    if (p->n_instrs) {
        m.last = zeroed(p->n_values, sizeof *m.last);
        m.first = zeroed(p->n_values, sizeof *m.first);
        m.border = zeroed(2 * (p->n_values + p->n_states), sizeof *m.border);
        find_moment(&m);
        find_spans(&m);
        find_ranges(&m);
        add_up(&m, bytes);
    }
    put(o, "cpu", s->workspace_bytes[DEVICE_CPU]);
    put(o, "cuda", s->workspace_bytes[DEVICE_CUDA]);
    put(o, "arena", s->arena_bytes);
    /* Live values are counted in whole slots of PLAN_ALIGN; the last slot of the arena is not. */
    uint64_t live = p->n_instrs ? p->instrs[m.instr].live_bytes : 0;
    put(o, "lower_bound", live < s->arena_bytes ? live : s->arena_bytes);
    for (int c = 0; c < CATEGORIES; c++) {
        put(categories, category_names[c], bytes[c]);
        sum += bytes[c];
    }
    put(categories, "unused", s->arena_bytes > sum ? s->arena_bytes - sum : 0);
    put(categories, "workspace_cpu", s->workspace_bytes[DEVICE_CPU] - s->workspace_offset);
    put(categories, "workspace_cuda", s->workspace_bytes[DEVICE_CUDA] - s->workspace_offset);
    if (json_object_set_new(o, "categories", categories)) fail_environment("no memory for JSON");
    free(m.last);
    free(m.first);
    free(m.border);
    return o;
}

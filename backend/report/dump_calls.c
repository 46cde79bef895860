/* The calls of a step of a pipeline as a picture: a row a stage, time to the right.
 *
 * As if forward of each stage took one column and backward two, each call begins as soon as its
 * rank has done the calls before it and the message that it waits for has come.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"

typedef struct CallTimes {
    const Plan *p;
    uint32_t stages;
    int64_t micro, columns;
    int64_t *forward, *backward; /* by stage and micro-batch: the column where it begins, or -1 */
    uint64_t *next;              /* by role: its next call */
    int64_t *free;               /* by role: the column from which on it has nothing to do */
} CallTimes;

static int64_t *at(const CallTimes *t, int64_t *of, uint32_t stage, int64_t micro) {
    return &of[stage * t->micro + micro];
}

/* The column in which the message has come that the call waits for; -1: nobody knows yet. */
static int64_t ready(const CallTimes *t, const PlanProgram *q, int64_t micro) {
    bool back = q->part == STAGE_BACKWARD;
    if (!back && q->stage == 0) return 0;
    int64_t sent =
        back ? *at(t, t->backward, q->stage + 1, micro) : *at(t, t->forward, q->stage - 1, micro);
    return sent < 0 ? -1 : sent + (back ? 2 : 1);
}

static void place(CallTimes *t, uint32_t role, const PlanProgram *q, int64_t micro, int64_t from) {
    int64_t begin = MAX(from, t->free[role]);
    if (q->part != STAGE_BACKWARD) *at(t, t->forward, q->stage, micro) = begin++;
    if (q->part != STAGE_FORWARD) {
        *at(t, t->backward, q->stage, micro) = begin;
        begin += 2;
    }
    t->free[role] = begin;
    t->columns = MAX(t->columns, begin);
}

/* The calls of a role as far as their messages have come. */
static bool place_calls(CallTimes *t, uint32_t role) {
    const Plan *p = t->p;
    bool any = false;
    for (; t->next[role] < p->n_calls; t->next[role]++) {
        const PlanCall *c = &p->calls[t->next[role]];
        const PlanProgram *q = &p->programs[c->program];
        if (c->role != role || c->kind != PLAN_STEP || q->kind == PROGRAM_UPDATE) continue;
        for (int64_t k = 0; k < c->times; k++) {
            int64_t from = ready(t, q, c->micro + k);
            if (from < 0) return any;
            place(t, role, q, c->micro + k, from);
            any = true;
        }
    }
    return any;
}

static CallTimes call_times(const Plan *p, Arena *a) {
    CallTimes t = {.p = p, .stages = plan_stages(p), .micro = p->settings->micro_batches};
    size_t n = (size_t)t.stages * (size_t)t.micro;
    t.forward = arena_array(a, int64_t, n);
    t.backward = arena_array(a, int64_t, n);
    t.next = arena_array(a, uint64_t, p->n_roles);
    t.free = arena_array(a, int64_t, p->n_roles);
    for (size_t k = 0; k < n; k++) t.forward[k] = t.backward[k] = -1;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t r = 0; r < p->n_roles; r++) any |= place_calls(&t, r);
    }
    return t;
}

/* In a cell for each column: F3, and B3 over two. */
static void put_row(View *v, const CallTimes *t, uint32_t stage, int64_t shown, int cell) {
    size_t n = (size_t)(shown + 2) * (size_t)cell;
    char *line = arena_array(v->a, char, n + 1), label[24];
    memset(line, ' ', n);
    for (int64_t m = 0; m < t->micro; m++) {
        int64_t forward = *at(t, t->forward, stage, m), backward = *at(t, t->backward, stage, m);
        size_t digits = (size_t)snprintf(label, sizeof label, "F%lld", (long long)m);
        if (forward >= 0 && forward < shown) memcpy(line + forward * cell, label, digits);
        if (backward < 0 || backward >= shown) continue;
        label[0] = 'B';
        memset(line + backward * cell, '-', (size_t)(2 * cell - 1));
        memcpy(line + backward * cell, label, digits);
    }
    n = (size_t)shown * (size_t)cell;
    while (n && line[n - 1] == ' ') n--;
    buf_printf(v->out, "  stage %-4u  %.*s%s\n", stage, (int)n, line,
               shown < t->columns ? " .." : "");
}

void view_calls(View *v) {
    enum { LABEL = 14 };
    if (!plan_has_stages(v->p)) return;
    CallTimes t = call_times(v->p, v->a);
    int cell = 2 + snprintf(NULL, 0, "%lld", (long long)t.micro - 1);
    int64_t shown = v->options.all ? t.columns : MIN(t.columns, (VIEW_WIDTH - LABEL) / cell);
    int64_t busy = 3 * t.micro * t.stages / (int64_t)v->p->n_roles;
    buf_printf(v->out,
               "\ncalls of a step, time to the right: forward (F) of a micro-batch takes one "
               "column, backward (B) two\n"
               "  a rank is idle for %lld of %lld columns",
               (long long)(t.columns - busy), (long long)t.columns);
    if (shown < t.columns) buf_printf(v->out, "; here are the first %lld", (long long)shown);
    buf_printf(v->out, "\n\n");
    for (uint32_t s = 0; s < t.stages; s++) put_row(v, &t, s, shown, cell);
}

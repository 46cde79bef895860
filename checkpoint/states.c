/* A plan's states as the vectors of a checkpoint, in the order of the files (all weights, then all
 * moments), with the names of their tensors. Of what several stages have, the first one's.
 */
#include <string.h>

#include "checkpoint.h"
#include "optimizers.h"

static const char *name_of_state(const Plan *p, const PlanParam *param, StateRole role) {
    const char *name =
        optimizer_state((OptimizerKind)p->settings->optimizer, param->flags & PARAM_MATRIX, role);
    if (!name) BUG("state role %d is in no checkpoint", (int)role);
    return name;
}

typedef struct StateBuilder {
    const Plan *p;
    Arena *a;
    CkContents *c;
    CkTensor **weight; /* [params] */
} StateBuilder;

static void add_tensor(StateBuilder *m, const PlanState *s, const PlanGroupParam *q,
                       int64_t *factors) {
    const PlanParam *param = &m->p->params[q->param];
    CkContents *c = m->c;
    const char *key = plan_string(m->p, param->key);
    CkTensor *t = &c->tensor[c->n_tensor++];
    *t = (CkTensor){
        .name = key, .saved_as = "", .vector = c->n_vector, .offset = q->offset, .chunk = q->chunk};
    if (s->role == STATE_PARAM) {
        if (!(param->flags & PARAM_IN_PARTS)) t->saved_as = plan_saved_name(m->p, param);
        t->saved_at = q->param;
        m->weight[q->param] = t;
        t->transposed = param->flags & PARAM_TRANSPOSED;
    } else {
        t->name = arena_printf(m->a, "optimizer.state.%s.%s", key,
                               name_of_state(m->p, param, (StateRole)s->role));
    }
    Type whole = plan_whole_type(m->p, param);
    t->elements = type_elements(&whole);
    t->rank = whole.rank;
    memcpy(t->dim, whole.dim, sizeof t->dim);
    t->cut = param->cut;
    if (t->cut.axes) t->parts = mesh_extent(&c->mesh, t->cut.axes);
    if (s->role != STATE_FACTORS) return;
    *t = (CkTensor){
        .name = t->name, .saved_as = "", .vector = t->vector, .rank = 1, .offset = *factors};
    t->elements = t->dim[0] = factor_numbers(&whole);
    *factors += t->elements;
}

static void add_vector(StateBuilder *m, const PlanState *s) {
    CkContents *c = m->c;
    const PlanGroup *g = &m->p->groups[s->group];
    CkVector *v = &c->vector[c->n_vector];
    *v = (CkVector){.role = s->role,
                    .dtype = s->type.dtype,
                    .layout = plan_saved_layout(m->p, s),
                    .first = c->n_tensor,
                    .n = g->n_param};
    int64_t factors = 0;
    for (uint32_t k = 0; k < g->n_param; k++)
        add_tensor(m, s, &m->p->group_params[g->first_param + k], &factors);
    c->n_vector++;
}

static void add_part(StateBuilder *m, const PlanStored *s, const StoredPart *part) {
    CkTensor *weight = m->weight[part->param];
    uint32_t n = weight->n_part++;
    if (!(n & (n - 1))) { /* as many as there is room for */
        CkPart *more = arena_array(m->a, CkPart, n ? 2 * n : 1);
        if (n) memcpy(more, weight->part, n * sizeof *more);
        weight->part = more;
    }
    CkPart *to = &weight->part[n];
    *to = (CkPart){.tensor = plan_string(m->p, s->name), .rank = s->rank, .elements = 1};
    memcpy(to->dim, s->dim, sizeof to->dim);
    for (int d = 0; d < s->rank; d++) to->elements *= s->dim[d];
    to->part = *part;
}

/* The parts of weights in tensors that --save writes. */
static void add_parts(StateBuilder *m) {
    const Plan *p = m->p;
    for (uint64_t i = 0; i < p->n_stored; i++)
        for (uint32_t k = 0; p->stored[i].table == 0 && k < p->stored[i].n_part; k++) {
            const StoredPart *part = &p->parts[p->stored[i].first_part + k];
            if (m->weight[part->param]) add_part(m, &p->stored[i], part);
        }
}

void ck_plan_states(CkContents *c, const Plan *p, Arena *a, const PlanState **state) {
    StateBuilder m = {.p = p, .a = a, .c = c};
    uint64_t tensors = 0;
    for (uint64_t i = 0; i < p->n_states; i++)
        if (state_is_saved(p->states[i].role)) tensors += p->groups[p->states[i].group].n_param;
    c->mesh = plan_mesh(p);
    c->plan = p->header->fingerprint;
    c->rules = p->header->rules;
    c->config = plan_string(p, p->settings->hf_config);
    c->form = (CheckpointForm)p->settings->form;
    c->most_file = CK_MOST_FILE;
    c->vector = arena_array(a, CkVector, p->n_states + 1);
    c->tensor = arena_array(a, CkTensor, tensors + 1);
    m.weight = arena_array(a, CkTensor *, p->n_params + 1);
    for (uint32_t role = 0; role < STATE_ROLES; role++)
        for (uint64_t i = 0; i < p->n_states; i++) {
            if (p->states[i].role != role || !state_is_saved(role)) continue;
            if (plan_is_copy(p, &p->states[i])) continue;
            if (state) state[c->n_vector] = &p->states[i];
            add_vector(&m, &p->states[i]);
        }
    add_parts(&m);
}

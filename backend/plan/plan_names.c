/* The reader's second step, part two: the names that files of weights may use for the parameters,
 * and tensors of such files that hold parts of parameters. Each parameter has a name in every
 * table, or its parts there are together as large as the parameter.
 */
#include "plan_reader.h"

/* Numbers of axes past the rank are zero. */
static bool is_clean(const int64_t *axis, int rank) {
    for (int k = rank; k < MAX_RANK; k++)
        if (axis[k]) return false;
    return true;
}

static int64_t whole_elements(const Plan *p, uint64_t param) {
    Type whole = plan_whole_type(p, &p->params[param]);
    return type_elements(&whole);
}

static bool bad_part(const Plan *p, const StoredPart *s, int64_t elements) {
    return s->param >= p->n_params || s->rank < 0 || !is_clean(s->dim, s->rank) ||
           !is_clean(s->stride, s->rank) ||
           !stored_is_inside(s, elements, whole_elements(p, s->param));
}

static void read_stored_tensor(Reading *r, uint64_t i, uint64_t first) {
    const Plan *p = r->p;
    const PlanStored *t = &p->stored[i];
    int64_t elements = 1;
    FAIL_IF(bad_string(p, t->name) || t->table >= p->n_names || t->pad || t->rank < 0 ||
                t->rank > MAX_RANK || !is_clean(t->dim, t->rank) || t->first_part != first ||
                !t->n_part || bad_range(t->first_part, t->n_part, p->n_parts) ||
                (i && t->table < p->stored[i - 1].table),
            "tensor %llu in parts is out of place", (Llu)i);
    for (int k = 0; k < t->rank; k++) {
        FAIL_IF(bad_count(t->dim[k], 1) || t->dim[k] > PLAN_LARGEST / elements,
                "tensor %s in parts is too large", plan_string(p, t->name));
        elements *= t->dim[k];
    }
    for (uint64_t k = first; k < first + t->n_part; k++)
        FAIL_IF(bad_part(p, &p->parts[k], elements), "part %llu of tensor %s lies outside it",
                (Llu)(k - first), plan_string(p, t->name));
}

/* Takes the parts of a table's tensors from what is left of their parameters; false: more. */
static bool take_parts(const Plan *p, uint32_t table, int64_t *left) {
    for (uint64_t i = 0; i < p->n_stored; i++)
        for (uint32_t k = 0; p->stored[i].table == table && k < p->stored[i].n_part; k++) {
            const StoredPart *s = &p->parts[p->stored[i].first_part + k];
            if (s->n > left[s->param]) return false;
            left[s->param] -= s->n;
        }
    return true;
}

/* The parts of a parameter are as many elements as it has. */
static void count_parts(Reading *r, uint32_t table) {
    const Plan *p = r->p;
    int64_t *left = arena_array(r->scratch, int64_t, p->n_params);
    uint64_t rows = p->n_params + p->n_aliases;
    for (uint64_t i = 0; i < p->n_params; i++) {
        uint32_t flags = table ? p->other_names[(table - 1) * rows + i].flags : p->params[i].flags;
        if (flags & PARAM_IN_PARTS) left[i] = whole_elements(p, i);
    }
    bool good = take_parts(p, table, left);
    for (uint64_t i = 0; i < p->n_params; i++) good &= !left[i];
    FAIL_IF(!good, "names table %u: the parts of a parameter do not add up to it", table);
}

static void read_stored(Reading *r) {
    const Plan *p = r->p;
    uint64_t first = 0;
    for (uint64_t i = 0; i < p->n_stored; i++) {
        read_stored_tensor(r, i, first);
        first += p->stored[i].n_part;
    }
    FAIL_IF(first != p->n_parts, "some parts belong to no tensor");
    for (uint32_t t = 0; t < MAX(p->n_names, 1); t++) count_parts(r, t);
}

void plan_read_names(Reading *r) {
    const Plan *p = r->p;
    uint64_t rows = p->n_params + p->n_aliases, names = 0;
    FAIL_IF(__builtin_mul_overflow(p->n_names ? p->n_names - 1 : 0, rows, &names) ||
                p->n_other_names != names,
            "the names tables do not name each parameter once");
    for (uint64_t i = 0; i < p->n_names; i++)
        FAIL_IF(bad_string(p, p->names[i].label) || p->names[i].pad ||
                    bad_range(p->names[i].first_skip, p->names[i].n_skip, p->n_skips),
                "names table %llu: its patterns are outside their table", (Llu)i);
    for (uint64_t i = 0; i < p->n_skips; i++)
        FAIL_IF(bad_string(p, p->skips[i]),
                "pattern %llu of the names tables is outside the string table", (Llu)i);
    for (uint64_t i = 0; i < p->n_other_names; i++) {
        const PlanOtherName *n = &p->other_names[i];
        uint64_t row = i % rows;
        FAIL_IF(bad_string(p, n->checkpoint) ||
                    n->flags & ~(uint32_t)(PARAM_TRANSPOSED | PARAM_IN_PARTS),
                "name %llu of the further names tables is outside the string table or has unknown "
                "flags",
                (Llu)i);
        FAIL_IF(n->flags & PARAM_TRANSPOSED && row < p->n_params && p->params[row].type.rank != 2,
                "parameter %s: only a matrix can be stored transposed",
                plan_string(p, p->params[row].name));
        FAIL_IF(n->flags & PARAM_IN_PARTS &&
                    (n->flags & PARAM_TRANSPOSED || row >= p->n_params || p->params[row].n_alias),
                "name %llu of the further names names no tensor", (Llu)i);
    }
    read_stored(r);
}

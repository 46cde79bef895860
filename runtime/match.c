/* Which tensor of a weights file is which parameter: by the checkpoint name, or a tied one by the
 * name of one of its aliases. Where several of its names are in the file, all must hold the same
 * values. The plan may have several names tables; the first under which all parameters are found
 * counts, and where there is none, the one under which most are found says what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "tensors.h"

/* One names table of the plan; 0 is there always, if only as the paths. */
typedef struct Naming {
    const Plan *p;
    const TensorFile *f;
    uint64_t table;
} Naming;

static const char *name_at(const Naming *n, PlanString first, uint64_t row, bool *transposed) {
    const Plan *p = n->p;
    if (n->table == 0) return plan_string(p, first);
    const PlanOtherName *other =
        &p->other_names[(n->table - 1) * (p->n_params + p->n_aliases) + row];
    *transposed = other->flags & PARAM_TRANSPOSED;
    return plan_string(p, other->checkpoint);
}

static const char *param_name(const Naming *n, const PlanParam *q, bool *transposed) {
    *transposed = q->flags & PARAM_TRANSPOSED;
    return name_at(n, q->checkpoint, (uint64_t)(q - n->p->params), transposed);
}

static const char *alias_name(const Naming *n, uint64_t alias) {
    bool transposed; /* as the parameter itself: the frontend saw to that */
    return name_at(n, n->p->aliases[alias].checkpoint, n->p->n_params + alias, &transposed);
}

static bool shape_fits(const PlanParam *q, const Tensor *t, bool transposed) {
    if (t->rank != q->type.rank) return false;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != q->type.dim[transposed ? t->rank - 1 - i : i]) return false;
    return true;
}

static void dims_text(char out[128], int rank, const int64_t *dim, bool reversed) {
    size_t at = (size_t)snprintf(out, 128, "[");
    for (int i = 0; i < rank && at < 100; i++)
        at += (size_t)snprintf(out + at, 128 - at, "%s%lld", i ? ", " : "",
                               (long long)dim[reversed ? rank - 1 - i : i]);
    snprintf(out + at, 128 - at, "]");
}

static int check_tensor(const TensorFile *f, const PlanParam *q, const Tensor *t, bool transposed,
                        char *error) {
    if (t->type == FT_COUNT || !file_type_float(t->type)) {
        snprintf(error, ERROR_BYTES, "%s: tensor %s: weights are F32, F16, BF16 or F64",
                 f->map.path, t->name);
        return EXIT_CORRUPT;
    }
    if (shape_fits(q, t, transposed)) return 0;
    char have[128], want[128];
    dims_text(have, t->rank, t->dim, false);
    dims_text(want, q->type.rank, q->type.dim, transposed);
    snprintf(error, ERROR_BYTES, "%s: tensor %s is %s, the plan needs %s%s", f->map.path, t->name,
             have, want, transposed ? " (stored transposed)" : "");
    return EXIT_CORRUPT;
}

static bool tensors_equal(const Tensor *a, const Tensor *b) {
    if (a->type == b->type)
        return !memcmp(a->data, b->data, (size_t)a->elements * file_type_bytes(a->type));
    for (int64_t i = 0; i < a->elements; i++)
        if (load_real(a->data + i * file_type_bytes(a->type), a->type) !=
            load_real(b->data + i * file_type_bytes(b->type), b->type))
            return false;
    return true;
}

static int missing(const Naming *n, const PlanParam *q, char *error) {
    bool transposed;
    const TensorFile *f = n->f;
    const char *name = param_name(n, q, &transposed);
    const char **names = calloc(f->n + 1, sizeof *names);
    for (uint32_t i = 0; names && i < f->n; i++) names[i] = f->tensor[i].name;
    const char *near = names ? nearest_name(name, names, f->n) : NULL;
    snprintf(error, ERROR_BYTES, "%s: no tensor %s (parameter %s)%s%s%s", f->map.path, name,
             plan_string(n->p, q->name), near ? "; the nearest name there is " : "",
             near ? near : "", f->n ? "" : "; the file has no tensors");
    free(names);
    return EXIT_CORRUPT;
}

static int match_param(const Naming *n, const PlanParam *q, TensorMatch *m, bool *used,
                       char *error) {
    const TensorFile *f = n->f;
    *m = (TensorMatch){0};
    const char *name = param_name(n, q, &m->transposed);
    for (uint32_t k = 0; k <= q->n_alias; k++) {
        const Tensor *t =
            tensors_find(f, k ? alias_name(n, q->first_alias + (uint64_t)k - 1) : name);
        if (!t || t == m->tensor) continue;
        used[t - f->tensor] = true;
        int code = check_tensor(f, q, t, m->transposed, error);
        if (code) return code;
        if (m->tensor && !tensors_equal(m->tensor, t)) {
            snprintf(error, ERROR_BYTES,
                     "%s: tensors %s and %s differ, but they are one tied parameter (%s)",
                     f->map.path, m->tensor->name, t->name, plan_string(n->p, q->name));
            return EXIT_CORRUPT;
        }
        if (!m->tensor) m->tensor = t;
    }
    return m->tensor ? 0 : missing(n, q, error);
}

/* How many parameters are found under this table; the rest of the result is that of the first
 * mistake. */
static uint64_t match_table(const Naming *n, TensorMatch *match, bool *used, int *code,
                            char *error) {
    uint64_t found = 0;
    char text[ERROR_BYTES];
    *code = 0;
    memset(used, 0, n->f->n * sizeof *used);
    for (uint64_t i = 0; i < n->p->n_params; i++) {
        int fault = match_param(n, &n->p->params[i], &match[i], used, text);
        found += match[i].tensor != NULL;
        if (!fault || *code) continue;
        *code = fault;
        snprintf(error, ERROR_BYTES, "%s", text);
    }
    return found;
}

static bool skipped(const Naming *n, const char *name) {
    const Plan *p = n->p;
    if (n->table >= p->n_names) return false;
    const PlanNames *t = &p->names[n->table];
    for (uint32_t i = 0; i < t->n_skip; i++)
        if (glob_match(plan_string(p, p->skips[t->first_skip + i]), name, NULL, NULL, 0))
            return true;
    return false;
}

int tensors_match(const Plan *p, const TensorFile *f, TensorMatch *match, Buf *extra, char *error) {
    bool *used = calloc(f->n + 1, sizeof *used);
    if (!used) {
        snprintf(error, ERROR_BYTES, "no memory for the names of %s", f->map.path);
        return EXIT_ENVIRONMENT;
    }
    Naming n = {p, f, 0};
    uint64_t tables = MAX(p->n_names, 1), best = 0, most = 0;
    int code = 0;
    for (; n.table < tables; n.table++) {
        uint64_t found = match_table(&n, match, used, &code, error);
        if (!code) break;
        if (found > most) best = n.table, most = found;
    }
    if (code) {
        n.table = best;
        match_table(&n, match, used, &code, error);
    }
    for (uint32_t i = 0; i < f->n && !code; i++)
        if (!used[i] && !skipped(&n, f->tensor[i].name))
            buf_printf(extra, "%s\n", f->tensor[i].name);
    free(used);
    return code;
}

void tensor_elements(const TensorMatch *m, int64_t first, int64_t n, int dtype, void *to) {
    enum { CHUNK = 2048 };
    float value[CHUNK];
    const Tensor *t = m->tensor;
    uint32_t width = file_type_bytes(t->type);
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t count = MIN(n - done, (int64_t)CHUNK);
        if (!m->transposed || t->rank < 2) {
            load_floats(t->data + (first + done) * width, t->type, count, value);
        } else {
            for (int64_t i = 0; i < count; i++)
                value[i] = (float)load_real(
                    t->data +
                        stored_element(t->dim, t->rank, t->elements, first + done + i) * width,
                    t->type);
        }
        store_floats((char *)to + done * dtype_bytes(dtype), dtype, value, count);
    }
}

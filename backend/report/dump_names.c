/* Names for the values of a plan, as the human view shows them.
 *
 * - a parameter inside a gathered unit has the parameter's name: h.0.attn.c_attn.weight; a view or
 *   reshape has the name of the value that it views;
 * - the gradient of a parameter (what is packed) is the parameter's name with a prime;
 * - a batch field and a state have their own names;
 * - the gradient of a whole unit is the unit's name with a prime;
 * - any other value is named after the module that computed it. If several ops of a module compute
 *   one, the op's name follows the path: h.0.add; if these have the same op, a number follows.
 * Results of backward have a prime: attn' is the gradient that attn's backward passes on.
 * Recomputed values have a star: attn*.
 * - a result after the first is NAME:y, where the op's signature calls it y, or NAME:2.
 *
 * A plan that was read but not checked may contain nonsense within its tables: a value to which no
 * rule applies is %17.
 */
#include <string.h>

#include "dump.h"
#include "signature.h"

typedef struct Names {
    View *v;
    const char **gradient; /* by value: the parameter's name, if it is its gradient */
    int32_t *flat;         /* by value: group whose flat parameter it is, or -1 */
    struct Count {
        uint64_t key;
        uint32_t n, given;
    } * counts; /* hash table: values by (program, phase, path) and the same with the op */
    uint64_t n_counts;
} Names;

bool view_silent(const PlanInstr *in) {
    return op_info[in->op].alias == ALIAS_VIEW || in->op == OP_state || in->op == OP_set_state;
}

static struct Count *count_of(Names *n, uint64_t program, const PlanInstr *in, bool with_op) {
    const char *path = view_text(n->v, in->path);
    uint64_t seed =
        program * 64 + in->phase + 32 * in->flags + (with_op ? 1 + (uint64_t)in->op : 0) * 1024;
    uint64_t key = hash_bytes(path, strlen(path), seed) | 1, k = key & (n->n_counts - 1);
    while (n->counts[k].key && n->counts[k].key != key) k = (k + 1) & (n->n_counts - 1);
    n->counts[k].key = key;
    return &n->counts[k];
}

/* The gradient of a unit's flat parameter: packed, reduced, summed up. */
static bool is_flat_gradient(const PlanInstr *in) {
    return in->op == OP_pack || in->op == OP_copy_in || in->op == OP_reduce_scatter ||
           in->op == OP_accumulate || (in->op == OP_all_reduce && in->attr.tag == TAG_GRADIENT);
}

/* Whether the first result of the instruction takes its name from the module path. */
static bool named_by_path(const Names *n, const PlanInstr *in) {
    return in->n_out && !view_silent(in) && !view_casts_parameter(n->v->p, in) &&
           in->op != OP_copy_out && in->op != OP_dequantize && in->op != OP_field &&
           !is_flat_gradient(in) && !n->gradient[in->first_out] &&
           n->v->p->values[in->first_out].type.dtype != DT_TOKEN && n->flat[in->first_out] < 0;
}

/* ---- flat parameters */

bool view_casts_parameter(const Plan *p, const PlanInstr *in) {
    return in->op == OP_cast && p->instrs[p->values[p->operands[in->first_in]].def].op == OP_view;
}

/* The parameter at the view's offset; a layout lists its parameters by ascending offset. */
static const PlanParam *param_at(const Plan *p, int32_t group, const PlanInstr *view) {
    const PlanGroup *g = &p->groups[group];
    int64_t size = dtype_bytes(p->values[view->first_out].type.dtype);
    uint32_t low = 0, high = g->n_param;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const PlanGroupParam *at = &p->group_params[g->first_param + middle];
        if (at->offset * size == view->attr.offset) return &p->params[at->param];
        if (at->offset * size < view->attr.offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void find_flat(Names *n, const PlanInstr *in) {
    const Plan *p = n->v->p;
    for (uint32_t k = 0; k < in->n_out; k++) {
        int32_t *flat = &n->flat[in->first_out + k];
        *flat = -1;
        if (in->op == OP_state) {
            const PlanState *s = &p->states[in->attr.index];
            bool holds =
                s->role == STATE_PARAM || s->role == STATE_GATHERED || s->role == STATE_COPY;
            if (holds) *flat = s->group;
        } else if ((in->op == OP_cast || in->op == OP_quantize || in->op == OP_fetch ||
                    in->op == OP_unshard) &&
                   k < in->n_in) {
            *flat = n->flat[p->operands[in->first_in + k]];
        }
    }
}

/* Names the operands of packs. If a view is packed, the name goes to the viewed value, which owns
 * the memory. */
static void find_gradients(Names *n, const PlanInstr *in) {
    const Plan *p = n->v->p;
    bool packs = in->op == OP_pack || in->op == OP_copy_in;
    if (!packs || in->attr.group < 0) return;
    const PlanGroup *g = &p->groups[in->attr.group];
    for (uint32_t k = 0; k < in->n_in && k < g->n_param; k++) {
        uint32_t value = p->operands[in->first_in + k];
        const PlanInstr *def = &p->instrs[p->values[value].def];
        for (int hops = 0; hops < 8 && op_info[def->op].alias == ALIAS_VIEW; hops++) {
            value = p->operands[def->first_in];
            def = &p->instrs[p->values[value].def];
        }
        n->gradient[value] =
            view_text(n->v, p->params[p->group_params[g->first_param + k].param].name);
    }
}

/* ---- names */

static const char *path_name(Names *n, uint64_t program, const PlanInstr *in) {
    const char *path = view_text(n->v, in->path), *op = op_info[in->op].name;
    const char *prime = in->phase == PHASE_BACKWARD ? "'" : "";
    if (in->flags & INSTR_RECOMPUTED) prime = "*";
    const char *dot = *path ? "." : "";
    Arena *a = n->v->a;
    if (*path && count_of(n, program, in, false)->n == 1)
        return arena_printf(a, "%s%s", path, prime);
    struct Count *same = count_of(n, program, in, true);
    if (same->n == 1) return arena_printf(a, "%s%s%s%s", path, dot, op, prime);
    return arena_printf(a, "%s%s%s.%u%s", path, dot, op, ++same->given, prime);
}

static const char *first_name(Names *n, uint64_t program, const PlanInstr *in) {
    const Plan *p = n->v->p;
    uint32_t value = in->first_out;
    if (n->gradient[value]) return arena_printf(n->v->a, "%s'", n->gradient[value]);
    if (in->op == OP_state) return view_text(n->v, p->states[in->attr.index].name);
    if (in->op == OP_field) return view_text(n->v, p->fields[in->attr.index].name);
    if (is_flat_gradient(in) && in->unit >= 0)
        return arena_printf(n->v->a, "%s'", view_unit(n->v, in->unit));
    if (in->op == OP_copy_out || in->op == OP_dequantize)
        return view_text(n->v, p->params[in->attr.index].name);
    if (op_info[in->op].alias == ALIAS_VIEW) {
        uint32_t of = p->operands[in->first_in];
        const PlanParam *param = NULL;
        if (in->op == OP_view && n->flat[of] >= 0) param = param_at(p, n->flat[of], in);
        if (param) return view_text(n->v, param->name);
        return n->v->name[of];
    }
    if (view_casts_parameter(p, in)) return n->v->name[p->operands[in->first_in]];
    if (n->flat[value] >= 0) return view_unit(n->v, p->groups[n->flat[value]].unit);
    return path_name(n, program, in);
}

/* A result after the first: NAME:y if the op's signature calls it y, else NAME:2. */
static const char *further_name(const Names *n, const PlanInstr *in, const char *first,
                                uint32_t k) {
    const Slot *slot = signature_result(op_signature((OpKind)in->op), k);
    if (slot && *slot->name && !slot->many)
        return arena_printf(n->v->a, "%s:%s", first, slot->name);
    return arena_printf(n->v->a, "%s:%u", first, k + 1);
}

static void name_results(Names *n, uint64_t program, const PlanInstr *in) {
    const char *first = in->n_out ? first_name(n, program, in) : NULL;
    for (uint32_t k = 0; k < in->n_out; k++) {
        uint32_t value = in->first_out + k;
        if (!k)
            n->v->name[value] = first;
        else if (n->gradient[value])
            n->v->name[value] = arena_printf(n->v->a, "%s'", n->gradient[value]);
        else
            n->v->name[value] = further_name(n, in, first, k);
    }
}

void view_names(View *v) {
    const Plan *p = v->p;
    Names n = {.v = v,
               .gradient = arena_array(v->a, const char *, p->n_values + 1),
               .flat = arena_array(v->a, int32_t, p->n_values + 1),
               .n_counts = 64};
    while (n.n_counts < 4 * p->n_instrs) n.n_counts *= 2;
    n.counts = arena_array(v->a, struct Count, n.n_counts);
    v->name = arena_array(v->a, const char *, p->n_values + 1);
    for (uint64_t i = 0; i < p->n_values; i++) v->name[i] = arena_printf(v->a, "%%%u", (unsigned)i);
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        find_flat(&n, &p->instrs[i]);
        find_gradients(&n, &p->instrs[i]);
    }
    for (uint64_t k = 0; k < p->n_programs; k++) {
        const PlanInstr *first = &p->instrs[p->programs[k].first_instr];
        const PlanInstr *end = first + p->programs[k].n_instr;
        for (const PlanInstr *in = first; in < end; in++) {
            if (!named_by_path(&n, in)) continue;
            count_of(&n, k, in, false)->n++;
            count_of(&n, k, in, true)->n++;
        }
        for (const PlanInstr *in = first; in < end; in++) name_results(&n, k, in);
    }
}

/* ---- parts of names */

const char *view_layer(const View *v, const char *path) {
    for (const char *at = path; *at; at++) {
        bool begins = at == path || at[-1] == '.';
        size_t n = strspn(at, "0123456789");
        if (begins && n && at > path && (!at[n] || at[n] == '.'))
            return arena_strndup(v->a, path, (size_t)(at - path) + n);
    }
    return "";
}

/* What follows `prefix` and a dot in `name`, or NULL. */
static const char *name_inside(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    return n && !strncmp(name, prefix, n) && name[n] == '.' ? name + n + 1 : NULL;
}

const char *view_short(const char *name, const char *layer, const char *path) {
    const char *rest = strcmp(path, layer) ? name_inside(name, path) : NULL;
    if (rest) return rest - 1; /* ".weight" */
    rest = name_inside(name, layer);
    return rest ? rest : name;
}

const char *view_unit(const View *v, int64_t unit) {
    if (unit < 0) return "";
    const char *name = view_text(v, v->p->units[unit].name);
    return *name ? name : "(root)";
}

bool view_wanted(const View *v, const char *path) {
    const char *only = v->options.only;
    if (!only || glob_match(only, path, v->a, NULL, 0)) return true;
    return glob_match(arena_printf(v->a, "%s.*", only), path, v->a, NULL, 0);
}

/* cut: which parameters the ranks along an axis of the mesh share out, and along which dimension.
 *
 * In: a graph of level model. Out: the same ops; each parameter that ranks along tp share out says
 * so (Param.cut). Types stay whole: pass place makes them local.
 *
 * Ops tie dimensions of values together: where ranks share out the heads of attention, they share
 * out the rows of the product that makes q, k and v, and the columns of the one that reads the
 * result. A class is all that is tied: places of values, found from one of them by asking each op
 * that reads or makes a value for its cut of that place (cut.h). A place may be a factor of a
 * dimension, such as the heads in rows of 3 x heads x width, and a dimension may have several.
 *
 * tp takes classes that hold parameters, that every op they meet can share out, of which the user
 * keeps no parameter whole, and whose size the number of ranks divides, or whose parts may end in
 * padding, such as a vocabulary: the one with the most elements first, at each op only one. What no
 * class takes stays whole on every rank. Where heads are what cannot be divided, that is an error,
 * since attention whole on every rank is not what anybody wants; any other width stays whole.
 *
 * Along cp no parameter is cut: ranks share out positions, which must be divisible.
 *
 * Fewer KV heads than ranks: axis tp is cut into tp x twin, as many ranks along tp as there are KV
 * heads. Along twin ranks have the same KV heads and share out the heads that read them. Every
 * other width is shared out over both.
 *
 * Time: each place is met once; its class asks the cuts of its value's ops, which are few.
 */
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "passes.h"
#include "pieces.h"

/* A factor of a dimension of a value: dimension = outer * size * inner. */
typedef struct ClassPlace {
    ValueId value;
    int64_t size;
    Place place;
    uint32_t next; /* row of `met` + 1 of another place in the value; 0: none */
} ClassPlace;

typedef struct CutClass {
    VEC(ClassPlace) places;
    VEC(OpId) ops;    /* those that it meets, each once for each of their cuts */
    OpId refused;     /* one that needs it whole, or has two cuts in it; NO_OP: none */
    OpId heads;       /* one of attention whose KV heads it is; NO_OP: none */
    bool inside;      /* the heads of each KV head instead */
    bool merges;      /* an op merges results of its parts, of one axis */
    int64_t size;     /* what the number of ranks must divide, .. */
    bool pads;        /* .. unless parts along one axis may end in padding */
    int64_t elements; /* of the parameters in it */
} CutClass;

typedef struct OpCuts {
    Cut *cut; /* NULL: not asked yet */
    uint32_t n;
    uint64_t taken; /* bit k: cut k is in the class that is being found */
    AxisSet chosen; /* along which axes a chosen class cuts it */
} OpCuts;

typedef struct CutPass {
    Graph *g;
    const Program *program;
    OpCuts *ops;              /* by op */
    uint32_t *first, *reader; /* by value: reader[first[v] .. first[v + 1]) are ops */
    uint32_t *last;           /* by value: row of `met` + 1, 0: no class has a place in it */
    VEC(ClassPlace) met;      /* the places of all classes so far */
    VEC(CutClass) classes;
} CutPass;

/* ---- places ---- */

static bool same_place(const ClassPlace *a, const ClassPlace *b) {
    return a->value == b->value && a->size == b->size && a->place.dim == b->place.dim &&
           a->place.outer == b->place.outer;
}

/* Adds the place to the class, unless a class has it. */
static void add_place(CutPass *c, CutClass *class, ValueId value, const Place *place,
                      int64_t size) {
    ClassPlace p = {value, size, *place, c->last[value]};
    for (uint32_t k = p.next; k; k = c->met.at[k - 1].next)
        if (same_place(&c->met.at[k - 1], &p)) return;
    vec_push(c->g->scratch, &c->met, p);
    c->last[value] = c->met.n;
    vec_push(c->g->scratch, &class->places, p);
}

/* ---- classes ---- */

static const Op *op_of(const CutPass *c, OpId id) { return &c->g->ops.at[id]; }

static OpCuts *cuts_of(CutPass *c, OpId id) {
    const Op *op = op_of(c, id);
    OpCuts *all = &c->ops[id];
    if (all->cut) return all;
    Arena *a = c->g->scratch;
    Type few[FEW_TYPES];
    const Type *types = op_types(c->g, op, few);
    CutOp asked = {.kind = op->kind,
                   .attr = op->attr,
                   .n_in = op->n_in,
                   .n_out = op->n_out,
                   .in = types,
                   .out = types + op->n_in};
    all->cut = arena_array(a, Cut, MOST_CUTS);
    all->n = op_cuts(&asked, all->cut, a);
    return all;
}

/* A table whose rows are read in an order that no data decides, such as one of positions, stays
 * whole: every rank would need rows of every part. */
static bool reads_constants(const CutPass *c, const Op *op) {
    for (uint32_t i = 0; i < op->n_in; i++) {
        const Op *def = op_of(c, c->g->values.at[op->in[i]].def);
        if (!def->n_in && op_info[def->kind].rows == ROWS_NONE) return true;
    }
    return false;
}

/* The class has the place as value `which` of the op: finds the op's cut of it, and what that ties
 * to it. false: the op needs it whole. */
static bool follow_op(CutPass *c, CutClass *class, OpId id, uint32_t which, const ClassPlace *p) {
    const Op *op = op_of(c, id);
    OpCuts *all = cuts_of(c, id);
    uint32_t n = op->n_in + op->n_out;
    Place *value = arena_array(c->g->scratch, Place, n + 1);
    for (uint32_t k = 0; k < all->n; k++) {
        Cut cut = all->cut[k];
        memcpy(value, cut.value, n * sizeof *value);
        cut.value = value;
        if (!cut_match(&cut, n, which, &p->place, p->size)) continue;
        if (!cut_merges(&cut, n) && !cut_has_kernels(&cut, n)) return false;
        if (cut.at && reads_constants(c, op)) return false;
        class->pads &= cut.pads;
        class->merges |= cut.merge;
        if (!(all->taken >> k & 1)) vec_push(c->g->scratch, &class->ops, id);
        all->taken |= (uint64_t)1 << k;
        if (cut.pair) class->heads = id;
        class->inside |= cut.pair == PAIR_INSIDE;
        for (uint32_t v = 0; v < n; v++)
            if (value[v].kind == PLACE_CUT)
                add_place(c, class, v < op->n_in ? op->in[v] : op->out + (v - op->n_in), &value[v],
                          cut.size);
        return true;
    }
    return false;
}

/* Does the op only bring a value into the program? */
static bool is_source(const Op *op) { return op->kind == OP_param; }

static void follow_value(CutPass *c, CutClass *class, const ClassPlace *p) {
    const Value *v = &c->g->values.at[p->value];
    const Op *def = op_of(c, v->def);
    if (is_source(def)) {
        const Param *param = &c->g->params.at[def->attr->index];
        class->elements += type_elements(&param->type);
        if (param->uncut) class->refused = v->def;
    } else if (!follow_op(c, class, v->def, def->n_in + v->result, p)) {
        class->refused = v->def;
    }
    for (uint32_t k = c->first[p->value]; k < c->first[p->value + 1]; k++) {
        const Op *op = op_of(c, c->reader[k]);
        for (uint32_t i = 0; i < op->n_in; i++)
            if (op->in[i] == p->value && !follow_op(c, class, c->reader[k], i, p))
                class->refused = c->reader[k];
    }
}

static void find_class(CutPass *c, ValueId value, const Place *place, int64_t size) {
    CutClass class = {.refused = NO_OP, .heads = NO_OP, .size = size, .pads = true};
    add_place(c, &class, value, place, size);
    if (!class.places.n) return;
    for (uint32_t k = 0; k < class.places.n; k++) {
        ClassPlace p = class.places.at[k];
        class.pads &= c->g->values.at[p.value].type.dim[p.place.dim] == p.size;
        follow_value(c, &class, &p);
    }
    for (uint32_t k = 0; k < class.ops.n; k++) {
        uint64_t *taken = &c->ops[class.ops.at[k]].taken;
        if (*taken & (*taken - 1)) class.refused = class.ops.at[k];
    }
    for (uint32_t k = 0; k < class.ops.n; k++) c->ops[class.ops.at[k]].taken = 0;
    if (class.elements) vec_push(c->g->scratch, &c->classes, class);
}

static void find_classes(CutPass *c) {
    for (uint32_t i = 0; i < c->program->ops.n; i++) {
        OpId id = c->program->ops.at[i];
        const Op *op = op_of(c, id);
        const OpCuts *all = cuts_of(c, id);
        for (uint32_t k = 0; k < all->n; k++)
            for (uint32_t v = 0; v < op->n_in + op->n_out; v++) {
                const Place *place = &all->cut[k].value[v];
                if (place->kind == PLACE_CUT)
                    find_class(c, v < op->n_in ? op->in[v] : op->out + (v - op->n_in), place,
                               all->cut[k].size);
            }
    }
}

/* ---- choice ---- */

static int compare_classes(const void *a, const void *b) {
    const CutClass *x = a, *y = b;
    if (x->elements != y->elements) return x->elements > y->elements ? -1 : 1;
    return x->places.at[0].value < y->places.at[0].value ? -1 : 1;
}

/* A parameter that both tp and twin cut has parts of parts: ranks of both are numbered as one. */
static bool may_cut_param(const TensorCut *cut, const ClassPlace *p) {
    return !cut->axes || (cut->dim == p->place.dim && p->place.outer == cut->outer * cut->size);
}

static void cut_param(TensorCut *cut, const ClassPlace *p, AxisSet axes) {
    CHECK(may_cut_param(cut, p));
    if (cut->axes)
        *cut = (TensorCut){cut->axes | axes, cut->dim, cut->outer, cut->size * p->size};
    else
        *cut = (TensorCut){axes, p->place.dim, p->place.outer, p->size};
}

/* The parameter that the place is in; NULL: it is in another value. */
static Param *param_at(const CutPass *c, const ClassPlace *p) {
    const Op *def = op_of(c, c->g->values.at[p->value].def);
    return is_source(def) ? &c->g->params.at[def->attr->index] : NULL;
}

static bool is_free(const CutPass *c, const CutClass *class, AxisSet axes) {
    for (uint32_t k = 0; k < class->ops.n; k++)
        if (c->ops[class->ops.at[k]].chosen & axes) return false;
    for (uint32_t k = 0; k < class->places.n; k++) {
        const Param *param = param_at(c, &class->places.at[k]);
        if (param && !may_cut_param(&param->cut, &class->places.at[k])) return false;
    }
    return true;
}

static void choose(CutPass *c, const CutClass *class, AxisSet axes) {
    for (uint32_t k = 0; k < class->ops.n; k++) c->ops[class->ops.at[k]].chosen |= axes;
    for (uint32_t k = 0; k < class->places.n; k++) {
        const ClassPlace *p = &class->places.at[k];
        Param *param = param_at(c, p);
        if (param) cut_param(&param->cut, p, axes);
    }
}

/* ---- heads ---- */

/* Of the attention that a class of KV heads meets: how many heads read one of them. */
static int64_t heads_of_one(CutPass *c, const CutClass *class) {
    const OpCuts *all = cuts_of(c, class->heads);
    for (uint32_t k = 0; k < all->n; k++)
        if (all->cut[k].letter == 'H' && all->cut[k].pair == PAIR_INSIDE) return all->cut[k].size;
    return 1;
}

static bool report_heads(CutPass *c, const CutClass *class, const MeshAxis *axis) {
    const Op *op = op_of(c, class->heads);
    int64_t kv = class->size, each = heads_of_one(c, class);
    const char *path = *op->path ? op->path : "the model";
    long long ranks = (long long)axis->size;
    if (each > 1 && axis->size % kv && kv % axis->size)
        return diag_report(c->g->diags, E_mesh, op->span,
                           "use a number of ranks that divides the number of KV heads, or a "
                           "multiple of it that divides the number of heads",
                           "%s = %lld: %lld KV heads of %s: one must divide the other",
                           axis_name(axis->role), ranks, (long long)kv, path);
    return diag_report(c->g->diags, E_mesh, op->span,
                       "use a number of ranks that divides the number of heads",
                       "%s = %lld: %lld heads of %s cannot be shared out", axis_name(axis->role),
                       ranks, (long long)(kv * each), path);
}

static bool has_heads(const CutClass *class) {
    return class->refused == NO_OP && class->heads != NO_OP && !class->inside;
}

/* How many ranks along the axis have KV heads of their own; 0: heads cannot be shared out. */
static int64_t ranks_with_heads(CutPass *c, const MeshAxis *axis) {
    int64_t own = axis->size;
    for (uint32_t k = 0; k < c->classes.n; k++)
        if (has_heads(&c->classes.at[k])) own = common_divisor(own, c->classes.at[k].size);
    for (uint32_t k = 0; k < c->classes.n; k++) {
        const CutClass *class = &c->classes.at[k];
        if (!has_heads(class) || class->size % axis->size == 0) continue;
        if (own != class->size || heads_of_one(c, class) % (axis->size / own)) {
            report_heads(c, class, axis);
            return 0;
        }
    }
    return own;
}

static void warn_idle(const CutPass *c, const MeshAxis *axis) {
    diag_report(c->g->diags, W_no_effect, (Span){0}, NULL,
                "%s = %lld: no parameter can be shared out, so these ranks repeat each other's "
                "work",
                axis_name(axis->role), (long long)axis->size);
}

static bool may_share(const CutClass *class, const Mesh *mesh, AxisSet set) {
    int64_t ranks = mesh_extent(mesh, set);
    bool one = !(set & (set - 1));
    if (class->merges && !one) return false;
    return class->size % ranks == 0 || (class->pads && one && class->size >= ranks);
}

/* Chooses classes for the axis. false: there are heads that it cannot share out. */
static bool cut_axis(CutPass *c, int number) {
    Mesh *mesh = &c->g->policy.mesh;
    const MeshAxis axis = mesh->axis[number];
    int64_t own = ranks_with_heads(c, &axis);
    AxisSet tp = (AxisSet)1 << number, twin = own < axis.size ? tp << 1 : 0;
    const AxisSet sets[] = {tp | twin, tp, twin};
    bool any = false;
    if (!own) return false;
    if (twin) mesh_cut(mesh, number, AXIS_twin, axis.size / own);
    if (c->classes.n) qsort(c->classes.at, c->classes.n, sizeof *c->classes.at, compare_classes);
    for (uint32_t k = 0; k < c->classes.n; k++) {
        const CutClass *class = &c->classes.at[k];
        for (int i = 0; i < 3 && class->refused == NO_OP; i++) {
            if (!sets[i] || !may_share(class, mesh, sets[i]) || !is_free(c, class, sets[i]))
                continue;
            choose(c, class, sets[i]);
            any = true;
            break;
        }
    }
    if (!any) warn_idle(c, &axis);
    return true;
}

/* ---- the pass ---- */

static void list_readers(CutPass *c) {
    const Graph *g = c->g;
    uint32_t n = 0;
    c->first = arena_array(g->scratch, uint32_t, g->values.n + 2);
    for (uint32_t i = 0; i < c->program->ops.n; i++) {
        const Op *op = op_of(c, c->program->ops.at[i]);
        for (uint32_t k = 0; k < op->n_in; k++) c->first[op->in[k] + 2]++, n++;
    }
    for (uint32_t v = 0; v < g->values.n; v++) c->first[v + 2] += c->first[v + 1];
    c->reader = arena_array(g->scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < c->program->ops.n; i++) {
        const Op *op = op_of(c, c->program->ops.at[i]);
        for (uint32_t k = 0; k < op->n_in; k++)
            c->reader[c->first[op->in[k] + 1]++] = c->program->ops.at[i];
    }
}

/* Can ranks along the axis share out the positions of samples? */
static bool check_positions(Graph *g, const MeshAxis *axis) {
    bool any = false;
    for (uint32_t k = 0; k < g->fields.n; k++) {
        const Type *t = &g->fields.at[k].type;
        if (!field_has_positions(t)) continue;
        any = true;
        long long pieces = (long long)axis->size * (axis_is_backwards(axis->role) ? 2 : 1);
        if (t->dim[1] % pieces == 0) continue;
        return diag_report(
            g->diags, E_mesh, (Span){0}, "use another number of ranks or of positions",
            "%s = %lld: %lld positions of `%s` are not divisible by %lld", axis_name(axis->role),
            (long long)axis->size, (long long)t->dim[1], g->fields.at[k].name, pieces);
    }
    if (any) return true;
    return diag_report(g->diags, E_mesh, (Span){0},
                       arena_printf(g->diags->arena,
                                    "%s shares out rows of ids, one id for each position",
                                    axis_name(axis->role)),
                       "%s = %lld: samples have no positions to share out", axis_name(axis->role),
                       (long long)axis->size);
}

bool pass_cut(Graph *g) {
    const Mesh *mesh = &g->policy.mesh;
    int axis = mesh->n;
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    if (train == NO_INDEX) return true;
    for (int a = 0; a < mesh->n; a++) {
        if (mesh->axis[a].size == 1 || !axis_cuts(mesh->axis[a].role)) continue;
        if (!axis_cuts_positions(mesh->axis[a].role))
            axis = a;
        else if (!check_positions(g, &mesh->axis[a]))
            return false;
    }
    if (axis == mesh->n) return true;
    CutPass c = {.g = g, .program = &g->programs.at[train]};
    c.ops = arena_array(g->scratch, OpCuts, g->ops.n + 1);
    c.last = arena_array(g->scratch, uint32_t, g->values.n + 1);
    list_readers(&c);
    find_classes(&c);
    return cut_axis(&c, axis);
}

/* The residency table: strategies.def, read by border. */
#include "residency.h"

typedef enum ResidencyEntry {
    GONE,
    SPLIT,
    WHOLE,
    RESHARD,
    HELD,
    INSIDE,
    PARTIAL,
    ACCUMULATE
} ResidencyEntry;

typedef enum PlaceEntry { DEVICE, AWAY } PlaceEntry;
typedef enum MovedBy { BY_NOTHING, BY_STATES, BY_PARAMS, BY_GRADS } MovedBy;
typedef enum GroupDtype { OF_MASTER, OF_COMPUTE, OF_WIRE, OF_REDUCE } GroupDtype;

static const uint8_t table[STRATEGY_KINDS][RESIDENTS][BORDERS] = {
#define RESIDES(strategy, what, ...) [strategy][RESIDENT_##what] = {__VA_ARGS__},
#include "strategies.def"
};

static const struct {
    GroupDtype dtype;
    MovedBy moved_by;
    PlaceEntry at[BORDERS];
} lives[RESIDENTS] = {
#define LIVES(what, dtype, moved_by, ...)                                                          \
    [RESIDENT_##what] = {OF_##dtype, BY_##moved_by, {__VA_ARGS__}},
#include "strategies.def"
};

bool strategy_gathers(Strategy s) { return table[s][RESIDENT_MASTER][BORDER_START] == SPLIT; }

bool strategy_reshards(Strategy s) {
    return table[s][RESIDENT_GATHERED][BORDER_FORWARD] == RESHARD;
}

bool strategy_holds(Strategy s) { return table[s][RESIDENT_GATHERED][BORDER_BETWEEN] == HELD; }

bool strategy_accumulates(Strategy s) {
    return table[s][RESIDENT_GRADIENT][BORDER_BETWEEN] == ACCUMULATE;
}

AxisSet split_axes(const Policy *p) {
    return strategy_gathers(p->strategy) ? mesh_parameter_axes(&p->mesh) : 0;
}

static MemoryPlace place_of(const Policy *p, Resident what, Border border) {
    if (lives[what].at[border] == DEVICE) return PLACE_DEVICE;
    switch (lives[what].moved_by) {
    case BY_STATES: return p->offload_states;
    case BY_PARAMS: return p->offload_params;
    case BY_GRADS: return p->offload_grads;
    case BY_NOTHING: break;
    }
    return PLACE_DEVICE;
}

int resident_dtype(Resident what, const Group *g) {
    switch (lives[what].dtype) {
    case OF_MASTER: return g->master_dtype;
    case OF_COMPUTE: return g->compute_dtype;
    case OF_WIRE: return g->wire_dtype;
    case OF_REDUCE: return g->reduce_dtype;
    }
    return DT_NONE;
}

Resident resident_of(StateRole role) {
    switch (role) {
    case STATE_PARAM: return RESIDENT_MASTER;
    case STATE_COPY: return RESIDENT_COPY;
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_MOMENT3:
    case STATE_MOMENT4: return RESIDENT_MOMENTS;
    case STATE_GRADIENT: return RESIDENT_GRADIENT;
    case STATE_GATHERED: return RESIDENT_GATHERED;
    case STATE_STEP:
    case STATE_STAGING:
    case STATE_SCALE:
    case STATE_METRIC:
    case STATE_LARGEST:
    case STATE_KEPT:
    case STATE_OUTBOX:
    case STATE_PREDICTION:
    case STATE_CACHE:
    case STATE_FACTORS: /* of rows and columns: every rank has them whole, and they are small */
    case STATE_ROLES: break;
    }
    return RESIDENTS;
}

MemoryPlace state_place(const Policy *p, const State *s) {
    Resident what = resident_of(s->role);
    if (what == RESIDENTS || s->partial) return PLACE_DEVICE;
    return place_of(p, what, BORDER_START);
}

bool value_is_away(const Graph *g, ValueId v) {
    const Op *def = value_maker(g, v);
    if (def->kind == OP_evict) return true;
    return def->kind == OP_state &&
           state_place(&g->policy, &g->states.at[def->attr->index]) != PLACE_DEVICE;
}

int dtype_if_gathered(const Policy *p, int dtype) {
    return strategy_gathers(p->strategy) ? dtype : DT_NONE;
}

/* The dtype that the policy gathers it in, or DT_NONE. To quantize all is to quantize what has two
 * axes or more: of a vector there is little to save, and its numbers are not alike. */
static int dtype_asked(const Policy *p, const Param *param) {
    if (!strategy_gathers(p->strategy) || param->replicate) return DT_NONE;
    if (param->gather != DT_NONE) return param->gather;
    bool not_meant = dtype_is_quantized(p->gather) && param->type.rank < 2;
    return param->keep_f32 || not_meant ? DT_NONE : p->gather;
}

int dtype_read(const Policy *p, const Param *param) {
    int asked = dtype_asked(p, param);
    if (asked != DT_NONE && !dtype_is_quantized(asked)) return asked;
    return param->keep_f32 ? DT_F32 : p->compute_dtype;
}

int dtype_on_wire(const Policy *p, const Param *param) {
    int asked = dtype_asked(p, param);
    return dtype_is_quantized(asked) ? asked : param->compute_dtype;
}

/* Some of the ranks that share out parameters, next to each other along the axis of shards. */
static bool cuts_shards(const Policy *p, int64_t group) {
    return group > 1 && mesh_extent(&p->mesh, mesh_shard_axes(&p->mesh)) % group == 0 &&
           group < mesh_extent(&p->mesh, mesh_parameter_axes(&p->mesh));
}

int64_t reshard_group(const Policy *p) {
    if (!strategy_reshards(p->strategy)) return 0;
    if (cuts_shards(p, p->reshard_group)) return p->reshard_group;
    for (uint32_t i = 0; i < p->by_path.n; i++) {
        const PathPolicy *path = &p->by_path.at[i];
        bool part = path->kind == PATH_RESHARD && path->reshard == RESHARD_PART;
        if (part && cuts_shards(p, path->group)) return path->group;
    }
    return 0;
}

Mesh mesh_of_groups(const Policy *p) {
    int64_t group = reshard_group(p);
    Mesh mesh = p->mesh;
    if (!group || mesh_retained_axes(&mesh)) return mesh;
    int at = 0;
    while (!axis_is_of_shards(mesh.axis[at].role)) at++;
    mesh_cut(&mesh, at, AXIS_reshard_group, group);
    return mesh;
}

Residence residence_of_contribution(const Policy *p, AxisSet terms) {
    return (Residence){.kept = true, .partial = mesh_sample_axes(&p->mesh) | terms};
}

static bool is_resharded(const Policy *p, ReshardScope scope) {
    if (scope == SCOPE_ROOT) return p->reshard_root;
    return scope == SCOPE_RESHARDED || scope == SCOPE_PARTLY_RESHARDED ||
           (scope != SCOPE_KEPT && p->reshard);
}

/* The axes over which ranks share out what they keep of it after forward. */
static AxisSet parts_of(const Policy *p, ReshardScope scope) {
    bool whole = scope == SCOPE_RESHARDED || (!p->reshard_group && scope != SCOPE_PARTLY_RESHARDED);
    return whole ? 0 : mesh_retained_axes(&p->mesh);
}

static Residence axes_of(const Policy *p, Resident what, Border border, ReshardScope scope,
                         AxisSet terms) {
    const Residence gone = {0}, whole = {.kept = true};
    bool several = p->micro_batches > 1 || mesh_stages(&p->mesh) > 1;
    bool local = p->accumulate_local && several;
    AxisSet split = scope == SCOPE_REPLICATED ? 0 : mesh_parameter_axes(&p->mesh);
    if (border == BORDER_BETWEEN && !several) return gone;
    /* Calls of other micro-batches come between forward and backward of one. */
    bool staged = scope == SCOPE_STAGED || scope == SCOPE_PARTLY_STAGED;
    if (staged && border == BORDER_FORWARD && what == RESIDENT_GATHERED) border = BORDER_BETWEEN;
    switch ((ResidencyEntry)table[p->strategy][what][border]) {
    case GONE: return gone;
    case SPLIT: return (Residence){.kept = true, .split = split};
    case WHOLE: return whole;
    case RESHARD: {
        AxisSet part = parts_of(p, scope);
        if (!is_resharded(p, scope)) return whole;
        return (Residence){.kept = part != 0, .split = part};
    }
    case HELD: {
        AxisSet part = scope == SCOPE_PARTLY_STAGED ? mesh_retained_axes(&p->mesh) : 0;
        return p->hold ? whole : (Residence){.kept = part != 0, .split = part};
    }
    case INSIDE: {
        Residence around = axes_of(p, RESIDENT_GATHERED, border, scope, 0);
        bool there =
            split && residence_is_whole(around) && place_of(p, what, border) == PLACE_DEVICE;
        return there ? gone : (Residence){.kept = true, .split = split};
    }
    case PARTIAL: return residence_of_contribution(p, terms);
    case ACCUMULATE: {
        Residence end = axes_of(p, what, BORDER_UPDATE, scope, terms);
        if (local) return residence_of_contribution(p, terms);
        if (p->all_reduce_last && several && split_axes(p))
            end.partial = (mesh_sample_axes(&p->mesh) | terms) & ~split_axes(p);
        return end;
    }
    }
    return gone;
}

static Residence with_place(const Policy *p, Resident what, Border border, Residence r) {
    if (r.kept && !r.partial) r.place = place_of(p, what, border);
    return r;
}

Residence residence_of(const Policy *p, Resident what, Border border, ReshardScope scope) {
    return with_place(p, what, border, axes_of(p, what, border, scope, 0));
}

Residence residence_of_gradient(const Policy *p, Border border, ReshardScope scope, AxisSet terms) {
    const Resident what = RESIDENT_GRADIENT;
    return with_place(p, what, border, axes_of(p, what, border, scope, terms));
}

Transition residence_transition(Residence from, Residence to) {
    AxisSet cut = to.split & ~from.split;
    CHECK((to.partial & ~from.partial) == 0);
    return (Transition){.gather = from.split & ~to.split,
                        .scatter = cut & from.partial,
                        .sum = from.partial & ~to.partial & ~cut,
                        .retain = cut & ~from.partial};
}

Border program_entry(ProgramKind kind) {
    bool starts = kind != PROGRAM_MICRO && kind != PROGRAM_LAST && kind != PROGRAM_UPDATE;
    return starts ? BORDER_START : BORDER_BETWEEN;
}

Border program_exit(ProgramKind kind) {
    switch (kind) {
    case PROGRAM_FIRST:
    case PROGRAM_MICRO: return BORDER_BETWEEN;
    case PROGRAM_TRAIN:
    case PROGRAM_UPDATE:
    case PROGRAM_LAST: return BORDER_UPDATE;
    case PROGRAM_EVAL:
    case PROGRAM_KINDS: return BORDER_START;
    }
    return BORDER_START;
}

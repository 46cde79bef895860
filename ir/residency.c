/* The residency table: strategies.def, read by border. */
#include "residency.h"

typedef enum Entry { GONE, SPLIT, WHOLE, RESHARD, HELD, PARTIAL, ACCUMULATE } Entry;

static const uint8_t table[STRATEGY_KINDS][RESIDENTS][BORDERS] = {
#define RESIDES(strategy, what, ...) [strategy][RESIDENT_##what] = {__VA_ARGS__},
#include "strategies.def"
#undef RESIDES
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

Residence residence_of_contribution(const Policy *p) {
    return (Residence){.kept = true, .partial = mesh_sample_axes(&p->mesh)};
}

Residence residence_of(const Policy *p, Resident what, Border border, Extent of) {
    const Residence gone = {0}, whole = {.kept = true};
    bool several = p->micro_batches > 1, local = p->accumulate_local && several;
    AxisSet split = of == EXTENT_WHOLE ? 0 : mesh_parameter_axes(&p->mesh);
    if (border == BORDER_BETWEEN && !several) return gone;
    switch ((Entry)table[p->strategy][what][border]) {
    case GONE: return gone;
    case SPLIT: return (Residence){.kept = true, .split = split};
    case WHOLE: return whole;
    case RESHARD: {
        AxisSet part = mesh_retained_axes(&p->mesh);
        if (!(of == EXTENT_ROOT ? p->reshard_root : p->reshard)) return whole;
        return (Residence){.kept = part != 0, .split = part};
    }
    case HELD: return p->hold ? whole : gone;
    case PARTIAL: return residence_of_contribution(p);
    case ACCUMULATE: {
        Residence end = residence_of(p, what, BORDER_UPDATE, of);
        if (local) return residence_of_contribution(p);
        if (p->all_reduce_last && several && split_axes(p))
            end.partial = mesh_sample_axes(&p->mesh) & ~split_axes(p);
        return end;
    }
    }
    return gone;
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
    return kind == PROGRAM_MICRO || kind == PROGRAM_LAST ? BORDER_BETWEEN : BORDER_START;
}

Border program_exit(ProgramKind kind) {
    switch (kind) {
    case PROGRAM_FIRST:
    case PROGRAM_MICRO: return BORDER_BETWEEN;
    case PROGRAM_TRAIN:
    case PROGRAM_LAST: return BORDER_UPDATE;
    case PROGRAM_EVAL:
    case PROGRAM_KINDS: return BORDER_START;
    }
    return BORDER_START;
}

/* Muon, for the kernels of all devices: its numbers, and where a rank's parts of matrices are.
 * cpu/optimizers/muon.c says what is computed. */
#ifndef FSDPC_RUNTIME_MUON_H
#define FSDPC_RUNTIME_MUON_H

#include <math.h>

#include "device.h"
#include "util.h"

/* X = (a I + b G + c G G) X, and the least norm by which u is divided */
#define MUON_A 3.4445f
#define MUON_B (-4.7750f)
#define MUON_C 2.0315f
#define MUON_LEAST_NORM 1e-7

/* Which elements of a matrix a rank holds: number i is element first + i / run * cycle + i % run of
 * the rank's part of the matrix, where ranks share it out. */
typedef struct MuonElements {
    int64_t first, run, cycle;
    TensorPart part;
} MuonElements;

/* Number i: is it padding, or else which element of the matrix; how many from there on are padding
 * too, or are one after the other in the matrix. */
TENSOR_FUNCTION int64_t muon_own_element(const MuonElements *of, int64_t i) {
    return of->first + i / of->run * of->cycle + i % of->run;
}
TENSOR_FUNCTION bool muon_pads(const MuonElements *of, int64_t i) {
    return tensor_pads(&of->part, muon_own_element(of, i));
}
TENSOR_FUNCTION int64_t muon_element(const MuonElements *of, int64_t i) {
    return tensor_element(&of->part, muon_own_element(of, i));
}
TENSOR_FUNCTION int64_t muon_run(const MuonElements *of, int64_t i) {
    int64_t held = of->run - i % of->run;
    return MIN(held, tensor_run(&of->part, muon_own_element(of, i)));
}

/* The part of a matrix that this rank holds: elements [at, at + n) of the operands; element e of
 * the matrix is element in_u + e of u. */
typedef struct MuonPart {
    Type type; /* of the whole matrix */
    double lr_factor, decay;
    int64_t at, n, in_u;
    MuonElements of;
} MuonPart;

/* Matrix k of the group, after *q, or what the operands of n elements are without a group. */
static inline bool muon_next_part(const KernelCall *call, const PlanGroup *group, uint32_t k,
                                  int64_t n, MuonPart *q) {
    MuonPart part = {*call->in_type[0],      1, call->attr->weight_decay, 0, n, 0,
                     {0, n, n, {n, n, n, 0}}};
    if (group && k >= group->n_param) return false;
    if (group) {
        const RankInfo *rank = call->rank;
        uint64_t row = (uint64_t)group->first_param + k;
        LayoutPlace place = plan_place(rank->plan, row);
        const PlanParam *param = &rank->plan->params[rank->plan->group_params[row].param];
        Layout layout = plan_layout(group);
        int64_t number = rank_number(rank, group), shards = layout_shards(&layout);
        LayoutHeld held = layout_held(&layout, &place, number);
        part.type = plan_whole_type(rank->plan, param);
        part.of.part = plan_part(rank->plan, param, rank->rank);
        part.lr_factor = plan_lr_factor(param);
        part.decay = plan_decay(param, part.decay);
        part.at = held.at;
        part.n = MIN(held.n, n - held.at);
        part.of.first = place.chunk
                            ? place.chunk * number
                            : layout_element_of(&layout, &place, number * layout.shard + held.at);
        part.of.run = place.chunk ? place.chunk : place.n;
        part.of.cycle = part.of.run * shards;
        part.in_u = k ? q->in_u + muon_room(&q->type) : 0;
    }
    *q = part;
    return group || k == 0;
}

/* What the learning rate is multiplied with for a matrix. */
static inline double muon_rate(int64_t rate, int64_t rows, int64_t columns) {
    double r = (double)rows, c = (double)columns;
    if (rate == MUON_MATCH_RMS_ADAMW) return 0.2 * sqrt(r > c ? r : c);
    return r > c ? sqrt(r / c) : 1.0;
}

#endif

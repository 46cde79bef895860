/* What a rank sends for a collective, on a ring of N ranks: an all-gather and a reduce-scatter of S
 * bytes on the full side send (N - 1) / N * S each, an all-reduce is the two in turn. A message to
 * another stage is sent as it is. */
#include "traffic.h"

uint64_t traffic_sent(OpKind op, int64_t ranks, int n_in, const Type *in, int n_out,
                      const Type *out) {
    uint64_t full = 0, n = (uint64_t)ranks;
    const Type *t = op_gathers(op) ? out : in;
    int count = op_gathers(op) ? n_out : n_in;
    if (op == OP_send) return (uint64_t)type_bytes(in);
    if (op_info[op].effect != EFFECT_COMM || n < 2) return 0;
    for (int i = 0; i < count; i++) full += (uint64_t)type_bytes(&t[i]);
    uint64_t once = full / n * (n - 1) + full % n * (n - 1) / n;
    return op == OP_all_reduce ? 2 * once : once;
}

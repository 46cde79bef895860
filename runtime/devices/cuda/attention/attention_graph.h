/* Attention as an operation graph of cuDNN.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads, h head width.
 */
#ifndef FSDPC_ATTENTION_GRAPH_H
#define FSDPC_ATTENTION_GRAPH_H

#include "cudnn_library.h"

/* Elements from one batch entry, and from one position, to the next; heads lie side by side. */
typedef struct Strides {
    int64_t batch, position;
} Strides;

/* Everything that a plan depends on; compared byte by byte, so filled from zeroes. */
typedef struct AttentionForm {
    int64_t b, t, s, heads, key_heads, h;
    Strides q, k, v, o, d_o, d_q, d_k, d_v; /* the last four backward only */
    float alpha;
    int32_t causal, backward;
} AttentionForm;

/* The operands of a graph, by the names that the graph gives them. lse and sums are
 * f32[B, H, T], everything else is bf16. Scalars come from the host. */
enum {
    UID_Q = 1,
    UID_K,
    UID_V,
    UID_O,
    UID_LSE,
    UID_D_O,
    UID_D_Q,
    UID_D_K,
    UID_D_V,
    UID_SUMS,
    UID_ALPHA,
    UID_MASKED,
    UID_ONE,
    UID_COUNT,
    UID_INSIDE = 100 /* the first of those that are never in memory */
};

#ifdef HAVE_CUDNN
/* All descriptors that a graph and its plan are made of. */
enum { MAX_DESCRIPTORS = 256, MAX_OPERATIONS = 32 };
typedef struct AttentionGraph {
    const Cudnn *cudnn;
    const AttentionForm *form;
    cudnnBackendDescriptor_t all[MAX_DESCRIPTORS], operation[MAX_OPERATIONS], whole;
    int n, n_operations;
    int64_t uid;          /* the next inside one */
    cudnnStatus_t status; /* of the first call that failed; nothing is called after it */
    const char *failed;   /* what that call was for */
} AttentionGraph;

/* Puts the graph of the form into g->whole, for a handle, or for no device where it is NULL.
 * g->status is the outcome; graph_end in any case. */
void attention_graph(AttentionGraph *g, const Cudnn *cudnn, cudnnHandle_t handle,
                     const AttentionForm *form);
void graph_end(AttentionGraph *g);

/* Its steps, for code that continues from a graph to a plan: a new descriptor, owned by the graph;
 * one attribute; the last step. NULL and nothing once a call has failed. */
cudnnBackendDescriptor_t graph_descriptor(AttentionGraph *g, cudnnBackendDescriptorType_t type,
                                          const char *what);
void graph_set(AttentionGraph *g, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t n, const void *from);
void graph_finalize(AttentionGraph *g, cudnnBackendDescriptor_t d, const char *what);
#endif

#endif

/* cuDNN: its graph interface, attention as an operation graph, and the plans for one form of
 * attention, which are made once and run any number of times.
 *
 * The library is found at run time: device_cuda.so also loads without it. Its calls are a table, so
 * that a test can put its own functions there and read what a graph is made of. A build
 * without cuDNN's header has only the forms.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads, h head width.
 */
#ifndef FSDPC_ATTENTION_CUDNN_H
#define FSDPC_ATTENTION_CUDNN_H

#include <stddef.h>
#include <stdint.h>

#include "util.h"

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

/* Bytes of scratch that a plan of this form may need, the address a multiple of 256. */
uint64_t attention_scratch(const AttentionForm *form);

enum { MAX_PLANS = 4, MAX_CONFIG = 16, SCRATCH_ALIGN = 256 };
typedef struct AttentionPlans AttentionPlans;

/* A text `why` has ERROR_BYTES. */
#if !defined(WITHOUT_CUDNN) && __has_include(<cudnn_graph.h>)
#define HAVE_CUDNN 1
#include <cudnn_graph.h>

/* ---- cudnn_library.c */

/* After the last version whose attention needs a padding mask for lengths that are not multiples
 * of 128 (9.15.0), and those that NVIDIA's front end refuses (9.10.1, 9.14.0). Masked scores may be
 * minus infinity since 9.10. */
enum { CUDNN_OLDEST = 91501 };

#define CUDNN_FUNCTIONS                                                                            \
    FUNCTION(version, cudnnGetVersion)                                                             \
    FUNCTION(error_string, cudnnGetErrorString)                                                    \
    FUNCTION(last_error, cudnnGetLastErrorString)                                                  \
    FUNCTION(create, cudnnCreate)                                                                  \
    FUNCTION(destroy, cudnnDestroy)                                                                \
    FUNCTION(set_stream, cudnnSetStream)                                                           \
    FUNCTION(create_descriptor, cudnnBackendCreateDescriptor)                                      \
    FUNCTION(destroy_descriptor, cudnnBackendDestroyDescriptor)                                    \
    FUNCTION(finalize, cudnnBackendFinalize)                                                       \
    FUNCTION(set, cudnnBackendSetAttribute)                                                        \
    FUNCTION(get, cudnnBackendGetAttribute)                                                        \
    FUNCTION(execute, cudnnBackendExecute)
typedef struct Cudnn {
#define FUNCTION(name, function) __typeof__(function) *name;
    CUDNN_FUNCTIONS
#undef FUNCTION
} Cudnn;

/* 0, or 1 with the reason: no such library, or one that is too old. The library stays in the
 * process once it is loaded. */
int cudnn_library_open(Cudnn *out, char *why);

/* ---- attention_graph.c */

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

/* ---- attention_cudnn.c */

typedef struct AttentionPlan {
    cudnnBackendDescriptor_t plan;
    int64_t engine;
    uint64_t scratch; /* bytes it takes */
    int config;       /* its number among what the library names, below MAX_CONFIG */
} AttentionPlan;

struct AttentionPlans {
    AttentionForm form;
    AttentionGraph graph;
    cudnnHandle_t handle; /* NULL: plans for a device that is described, not present */
    int n;                /* best guess of the library first */
    AttentionPlan plan[MAX_PLANS];
};

/* Plans that take at most `room` bytes of scratch; only that with the number `only` unless it is
 * negative, which saves the time that the others take to compile; for the handle's device or, with
 * handle NULL, for one with these properties (the library's JSON). 0 with at least one plan, else 1
 * with the reason in `why`. attention_plans_end in any case; `out` must stay where it is until
 * then. */
int attention_plans(AttentionPlans *out, const Cudnn *cudnn, cudnnHandle_t handle,
                    const char *properties, const AttentionForm *form, uint64_t room, int only,
                    char *why);
void attention_plans_end(AttentionPlans *p);

/* Issues plan `which` on the handle's stream; operand: by UID_*, NULL where the form has none. 0,
 * or 1 with the reason. */
int attention_plan_run(const AttentionPlans *p, int which, void *const operand[UID_COUNT],
                       void *scratch, char *why);
#endif

#endif

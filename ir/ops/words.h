/* The enums that appear in text, each with its words: the only table for printers, parsers,
 * messages and help.
 *
 * A row is W(constant, word, meaning); the constants count from 0 in the order of the rows. To add
 * a value, add its row. To add an enum, add its rows and a line in WORD_TABLES with the name of the
 * constant that counts the rows.
 */
#ifndef FSDPC_WORDS_H
#define FSDPC_WORDS_H

#include <stdint.h>

/* Types of elements. DT_TOKEN has no bytes: it represents an ordering between ops as a value. */
#define WORDS_DType(W)                                                                             \
    W(DT_NONE, "none", "no type")                                                                  \
    W(DT_F32, "f32", "float, 32 bits")                                                             \
    W(DT_BF16, "bf16", "bfloat16")                                                                 \
    W(DT_F16, "f16", "float, 16 bits")                                                             \
    W(DT_F8E4M3, "f8e4m3", "float, 8 bits: 4 of exponent, 3 of fraction; only stored and sent")    \
    W(DT_I8, "i8", "integer, 8 bits, of a number in units of its block; only stored and sent")     \
    W(DT_F64, "f64", "float, 64 bits")                                                             \
    W(DT_I32, "i32", "integer, 32 bits")                                                           \
    W(DT_I64, "i64", "integer, 64 bits")                                                           \
    W(DT_U8, "u8", "byte")                                                                         \
    W(DT_TOKEN, "token", "an order between ops, without bytes")

/* Levels of a graph, see levels.md. */
#define WORDS_OpLevel(W)                                                                           \
    W(LEVEL_MODEL, "model", "forward ops, parameters, loss")                                       \
    W(LEVEL_TRAIN, "train", "forward, backward and update of one step, not sharded")               \
    W(LEVEL_SHARD, "shard", "units and groups; what each group is reduced from and updated by")    \
    W(LEVEL_COMM, "comm",                                                                          \
      "flat parameters and collectives, a program for each kind of micro-batch")                   \
    W(LEVEL_SCHED, "sched", "final order, streams, addresses, edges")

#define WORDS_DeviceKind(W)                                                                        \
    W(DEVICE_CPU, "cpu", "kernels in C")                                                           \
    W(DEVICE_CUDA, "cuda", "an NVIDIA GPU")

/* What the time of a kernel depends on: for products and attention their operations, for the others
 * the bytes that they move, at a speed that also depends on the order in which they do. */
#define WORDS_OpClass(W)                                                                           \
    W(CLASS_ELEMENTS, "elements", "each element by itself: arithmetic, and changes of layout")     \
    W(CLASS_ROWS, "rows", "sums and norms along rows or columns, and losses")                      \
    W(CLASS_SCATTERED, "scattered", "rows that indices choose")                                    \
    W(CLASS_UPDATE, "update", "optimizers")                                                        \
    W(CLASS_PRODUCT, "product", "matrix products")                                                 \
    W(CLASS_ATTENTION, "attention", "attention and its gradients")                                 \
    W(CLASS_COPY, "copy", "between the device and host memory")

#define WORDS_StreamKind(W)                                                                        \
    W(STREAM_COMPUTE, "compute", "everything except collectives")                                  \
    W(STREAM_GATHER, "gather", "all-gathers of parameters, and casts that feed them")              \
    W(STREAM_REDUCE, "reduce", "reductions of gradients and metrics")                              \
    W(STREAM_FETCH, "fetch", "copies from host memory to the device")                              \
    W(STREAM_EVICT, "evict", "copies from the device to host memory")                              \
    W(STREAM_SEND, "send", "messages to other stages of a pipeline")                               \
    W(STREAM_RECEIVE, "receive", "messages from other stages of a pipeline")

/* The memory in which something is kept. */
#define WORDS_MemoryPlace(W)                                                                       \
    W(PLACE_DEVICE, "device", "in memory of the device")                                           \
    W(PLACE_HOST, "host", "in memory of the host")                                                 \
    W(PLACE_FILE, "file", "in a file that is mapped into memory of the host")

#define WORDS_Phase(W)                                                                             \
    W(PHASE_FORWARD, "forward", "the loss")                                                        \
    W(PHASE_BACKWARD, "backward", "its gradients")                                                 \
    W(PHASE_UPDATE, "update", "the optimizer")

#define WORDS_GeluForm(W)                                                                          \
    W(GELU_ERF, "erf", "x * (1 + erf(x / sqrt(2))) / 2")                                           \
    W(GELU_TANH, "tanh", "the approximation by tanh")

#define WORDS_Snapshot(W)                                                                          \
    W(SNAPSHOT_DIRECT, "direct",                                                                   \
      "written from its own memory: the next update waits until that is done")                     \
    W(SNAPSHOT_COPY, "copy", "copied to host memory first: the next update waits only for the copy")

#define WORDS_CheckpointForm(W)                                                                    \
    W(CHECKPOINT_SHARDED, "sharded", "one set of files per rank")                                  \
    W(CHECKPOINT_FULL, "full", "whole tensors: model.safetensors and optimizer.safetensors")

#define WORDS_OnNan(W)                                                                             \
    W(ON_NAN_STOP, "stop", "end the run with exit code 5")                                         \
    W(ON_NAN_SKIP, "skip", "leave the weights as they are and go on")                              \
    W(ON_NAN_CONTINUE, "continue", "update the weights anyway")

/* What a collective carries. Reports count metrics separately. */
#define WORDS_CommTag(W)                                                                           \
    W(TAG_PARAMETER, "parameter", "weights")                                                       \
    W(TAG_GRADIENT, "gradient", "gradients")                                                       \
    W(TAG_METRIC, "metric", "loss, norm, metrics, largest weights")                                \
    W(TAG_MOMENTUM, "momentum", "what Muon makes orthogonal")                                      \
    W(TAG_ACTIVATION, "activation", "activations and their gradients")

/* Communicators of a mesh axis: one for gathers, one for reductions, so that they may overlap. */
#define WORDS_CommPurpose(W)                                                                       \
    W(COMM_GATHER, "gather", "all-gathers")                                                        \
    W(COMM_REDUCE, "reduce", "reductions")

/* Programs of a step: `train` with one micro-batch, otherwise `first`, `micro` and `last`. */
#define WORDS_ProgramKind(W)                                                                       \
    W(PROGRAM_TRAIN, "train", "a whole step of one micro-batch: forward, backward, update")        \
    W(PROGRAM_EVAL, "eval", "an evaluation batch")                                                 \
    W(PROGRAM_FIRST, "first", "the first micro-batch: its gradients are stored")                   \
    W(PROGRAM_MICRO, "micro", "a micro-batch in the middle: its gradients are added")              \
    W(PROGRAM_LAST, "last", "the last micro-batch: its gradients are added, then the update")      \
    W(PROGRAM_UPDATE, "update", "the update after all micro-batches of a pipeline")

/* What of a program a stage of a pipeline runs in one call. */
#define WORDS_StagePart(W)                                                                         \
    W(STAGE_WHOLE, "whole", "all of it")                                                           \
    W(STAGE_FORWARD, "forward", "forward; its backward is a call of its own")                      \
    W(STAGE_BACKWARD, "backward", "backward, from what forward has kept")

/* The order in which the ranks of a stage take the micro-batches of a step. */
#define WORDS_PipelineKind(W)                                                                      \
    W(PIPELINE_ONE_F_ONE_B, "one_f_one_b",                                                         \
      "as few forwards ahead as keep all stages busy, then one backward after each forward")       \
    W(PIPELINE_GPIPE, "gpipe", "all forwards, then all backwards: keeps all micro-batches")        \
    W(PIPELINE_INTERLEAVED, "interleaved",                                                         \
      "one_f_one_b with several stages a rank: less idle time, more messages")

#define WORDS_InitKind(W)                                                                          \
    W(INIT_ZEROS, "zeros", "all 0")                                                                \
    W(INIT_ONES, "ones", "all 1")                                                                  \
    W(INIT_NORMAL, "normal", "normal distribution")

/* Persistent buffers. */
#define WORDS_StateRole(W)                                                                         \
    W(STATE_STEP, "step", "f64[STEP_SLOTS], written by the host before each call")                 \
    W(STATE_STAGING, "staging", "u8[2, bytes]: two batches, written by the host")                  \
    W(STATE_SCALE, "scale", "f64[SCALE_SLOTS], read by the host after a step")                     \
    W(STATE_METRIC, "metric", "exact accumulator, read by the host; its name says which")          \
    W(STATE_PARAM, "param", "master weights of a group")                                           \
    W(STATE_MOMENT1, "moment1",                                                                    \
      "the optimizer's first state like the weights: a mean, a momentum")                          \
    W(STATE_MOMENT2, "moment2", "its second one: of Adam the mean of squares")                     \
    W(STATE_MOMENT3, "moment3", "its third one")                                                   \
    W(STATE_MOMENT4, "moment4", "its fourth one")                                                  \
    W(STATE_FACTORS, "factors", "moments of rows and columns, whole on every rank")                \
    W(STATE_GRADIENT, "gradient", "gradients kept between micro-batches")                          \
    W(STATE_GATHERED, "gathered", "unsharded parameters kept between micro-batches")               \
    W(STATE_COPY, "copy", "a group's shard of parameters in the compute dtype")                    \
    W(STATE_LARGEST, "largest",                                                                    \
      "the largest weights, in a step, of parameters that are quantized for gathers")              \
    W(STATE_KEPT, "kept", "an activation, from forward to backward of a micro-batch")              \
    W(STATE_OUTBOX, "outbox", "u8[n, bytes]: the last n messages to another stage")                \
    W(STATE_PREDICTION, "prediction", "of each sample of a call, read by the host")                \
    W(STATE_CACHE, "cache", "keys or values of earlier positions, for generation")

/* When shards of parameters are cast to the compute dtype. */
#define WORDS_CastTime(W)                                                                          \
    W(CAST_AUTO, "auto",                                                                           \
      "if every rank holds all of them (one rank, or strategy none): each before its first use, "  \
      "and kept for backward; otherwise as gather, except that offloaded and replicated "          \
      "parameters are cast as with update")                                                        \
    W(CAST_UPDATE, "update",                                                                       \
      "by the update, once per step: fastest where nothing is gathered, especially for "           \
      "--generate; in bf16 a rank keeps 2 more bytes for each parameter of its shard")             \
    W(CAST_GATHER, "gather",                                                                       \
      "for each gather, or before use where nothing is gathered, in forward and again in "         \
      "backward; needs the least memory")

#define WORDS_Strategy(W)                                                                          \
    W(STRATEGY_FULL, "full", "parameters, gradients and optimizer states")                         \
    W(STRATEGY_GRADS, "grads", "parameters stay gathered from forward to backward")                \
    W(STRATEGY_STATES, "states",                                                                   \
      "optimizer states; one gather and one reduction per unit and step")                          \
    W(STRATEGY_NONE, "none", "nothing: every rank holds everything")

#define WORDS_LayoutKind(W)                                                                        \
    W(LAYOUT_FLAT, "flat", "concatenated into one flat row of elements that is cut evenly")        \
    W(LAYOUT_PARAM, "param",                                                                       \
      "each on its own, by rows of its first axis or as split(..) says, as in PyTorch's FSDP2")

#define WORDS_UnitPolicy(W)                                                                        \
    W(UNIT_ROOT, "root", "one unit")                                                               \
    W(UNIT_CLASS, "class", "each module of these classes")                                         \
    W(UNIT_SIZE, "size", "modules of at least this many elements")                                 \
    W(UNIT_MANUAL, "manual", "lists of module paths")

#define WORDS_PathPolicyKind(W)                                                                    \
    W(PATH_RECOMPUTE, "recompute", "what these modules compute is computed again in backward")     \
    W(PATH_RESHARD, "reshard", "these units are given back after forward, or are not")

#define WORDS_UnitReshard(W)                                                                       \
    W(RESHARD_POLICY, "policy", "given back after forward as the policy says")                     \
    W(RESHARD_NEVER, "kept", "stays gathered from forward to backward")                            \
    W(RESHARD_ALWAYS, "given", "given back after forward, all of it")                              \
    W(RESHARD_PART, "part", "given back except this rank's part of it, among K neighbours")

/* The factor on the lr of an [O, D] matrix: the elements of an orthogonal step are larger the
 * smaller the matrix is. */
#define WORDS_MuonRate(W)                                                                          \
    W(MUON_ORIGINAL, "original", "sqrt(max(1, O / D))")                                            \
    W(MUON_MATCH_RMS_ADAMW, "match_rms_adamw", "0.2 sqrt(max(O, D)): about as far as AdamW moves")

#define WORDS_ScheduleKind(W)                                                                      \
    W(SCHEDULE_CONSTANT, "constant", "warm-up, then lr")                                           \
    W(SCHEDULE_COSINE, "cosine", "warm-up, then half a cosine down to final * lr")                 \
    W(SCHEDULE_LINEAR, "linear", "warm-up, then a line down to final * lr")                        \
    W(SCHEDULE_RSQRT, "rsqrt", "warm-up, then lr * sqrt(warmup / step)")                           \
    W(SCHEDULE_WSD, "wsd", "warm-up, lr, at the end a line down to final * lr")

#define WORDS_DataOrder(W)                                                                         \
    W(ORDER_SHUFFLE, "shuffle", "a new permutation each epoch, from the seed")                     \
    W(ORDER_SEQUENTIAL, "sequential", "in the order of the files")

#define WORDS_SourceKind(W)                                                                        \
    W(SOURCE_TEXT, "text", "any file, a byte is a token")                                          \
    W(SOURCE_TOKENS, "tokens", "llm.c token files")                                                \
    W(SOURCE_NPY, "npy", "NumPy arrays, first axis = sample")                                      \
    W(SOURCE_SYNTHETIC, "synthetic", "made-up fields that can be learnt")                          \
    W(SOURCE_SYNTHETIC_TOKENS, "synthetic_tokens", "made-up tokens that can be learnt")

/* The transformation of a sample's tokens. */
#define WORDS_Corruption(W)                                                                        \
    W(CORRUPTION_NONE, "none", "inputs, and targets one further")                                  \
    W(CORRUPTION_MLM, "mlm", "some tokens are masked; the model says which they were")             \
    W(CORRUPTION_SPANS, "span_corruption", "spans are taken out; the model says them")

#define WORD_TABLES(TABLE)                                                                         \
    TABLE(DType, DT_COUNT)                                                                         \
    TABLE(OpLevel, LEVEL_COUNT)                                                                    \
    TABLE(DeviceKind, DEVICE_KINDS)                                                                \
    TABLE(OpClass, OP_CLASSES)                                                                     \
    TABLE(StreamKind, STREAM_KINDS)                                                                \
    TABLE(MemoryPlace, MEMORY_PLACES)                                                              \
    TABLE(Phase, PHASE_COUNT)                                                                      \
    TABLE(GeluForm, GELU_FORMS)                                                                    \
    TABLE(Snapshot, SNAPSHOTS)                                                                     \
    TABLE(CheckpointForm, CHECKPOINT_FORMS)                                                        \
    TABLE(OnNan, ON_NAN_KINDS)                                                                     \
    TABLE(CommTag, TAG_KINDS)                                                                      \
    TABLE(CommPurpose, COMM_PURPOSES)                                                              \
    TABLE(ProgramKind, PROGRAM_KINDS)                                                              \
    TABLE(StagePart, STAGE_PARTS)                                                                  \
    TABLE(PipelineKind, PIPELINE_KINDS)                                                            \
    TABLE(InitKind, INIT_KINDS)                                                                    \
    TABLE(StateRole, STATE_ROLES)                                                                  \
    TABLE(Strategy, STRATEGY_KINDS)                                                                \
    TABLE(CastTime, CAST_TIMES)                                                                    \
    TABLE(LayoutKind, LAYOUT_KINDS)                                                                \
    TABLE(UnitPolicy, UNIT_POLICIES)                                                               \
    TABLE(PathPolicyKind, PATH_POLICY_KINDS)                                                       \
    TABLE(UnitReshard, UNIT_RESHARDS)                                                              \
    TABLE(MuonRate, MUON_RATES)                                                                    \
    TABLE(ScheduleKind, SCHEDULE_KINDS)                                                            \
    TABLE(DataOrder, ORDER_KINDS)                                                                  \
    TABLE(SourceKind, SOURCE_KINDS)                                                                \
    TABLE(Corruption, CORRUPTIONS)

/* The enums: typedef enum Phase { PHASE_FORWARD, .., PHASE_COUNT } Phase. */
#define WORD_CONSTANT(constant, word, meaning) constant,
#define WORD_ENUM(name, count) typedef enum name { WORDS_##name(WORD_CONSTANT) count } name;
WORD_TABLES(WORD_ENUM)
#undef WORD_ENUM
#undef WORD_CONSTANT

/* The words of an enum, by value. */
typedef struct Words {
    const char *const *at;
    const char *const *meaning; /* a line for people */
    int n;
} Words;

/* op.c: words_Phase, words_Strategy, .. */
#define WORD_TABLE(name, count) extern const Words words_##name;
WORD_TABLES(WORD_TABLE)
#undef WORD_TABLE
extern const Words words_OptimizerKind;             /* of optimizers.h */
const char *word_of(const Words *w, int64_t value); /* "?" if it is not a value */
int word_find(const Words *w, const char *word);    /* -1 if it is not a word */

#endif

/* The graph: what frontend builds, passes rewrite and backend turns into a plan.
 *
 * A graph is the SPMD program of one rank; every rank runs the same list. It has tables (modules,
 * parameters, states, batch fields, units, groups) and programs over them: `train` and `eval`;
 * from pass `comm` on, with M > 1 micro-batches, `first`, `micro` and `last` in place of `train`.
 * A program is one flat list of ops in SSA form. Values and ops are 32-bit indices into arrays that
 * the graph's arena owns; a pass makes a new op list for a program and swaps it in.
 *
 * Every op keeps the path of the module it came from and its place in the .fsd file to the end.
 */
#ifndef FSDPC_IR_H
#define FSDPC_IR_H

#include "diag.h"
#include "infer.h"
#include "op.h"
#include "optimizers.h"
#include "placements.h"
#include "shards.h"
#include "util.h"

typedef uint32_t ValueId;
typedef uint32_t OpId;
#define NO_VALUE UINT32_MAX
#define NO_OP UINT32_MAX
#define NO_ADDRESS UINT64_MAX
/* Ends of ranges in policy.def: the largest real below 1, the largest of all. */
#define BELOW_ONE 0x1.fffffffffffffp-1
#define MOST_REAL 1.7976931348623157e308

typedef struct Value {
    Type type;
    const Placement *placement; /* NULL: the same on every rank along these axes */
    OpId def;                   /* the op that produces it */
    uint32_t result;            /* which of that op's results */
    uint32_t row;               /* scratch of a pass: graph_number_rows */
    AxisSet slots;    /* level sched: 0, or at `address` are slots, one for each rank of a group of
                         these axes, and the value is in that of this rank */
    uint64_t address; /* level sched: bytes from the start of the arena, HOST_BASE more in host
                         memory; NO_ADDRESS before, and for tokens */
} Value;

typedef struct Op {
    OpKind kind;
    uint32_t n_in, n_out;
    ValueId *in;       /* operands */
    ValueId out;       /* results are out, out + 1, .. out + n_out - 1 */
    const Attrs *attr; /* of graph_attrs: ops that have the same ones share them */
    const char *path;  /* module path, "" = root; never NULL */
    Span span;
    int32_t unit;    /* from wrap on: the unit whose computation this is; NO_INDEX before */
    int16_t stage;   /* of the pipeline, from pass stage on; NO_INDEX: every rank has it */
    uint8_t phase;   /* Phase */
    bool recomputed; /* repeats an op of forward in backward */
    uint8_t stream;  /* level sched: StreamKind */
    uint32_t row;    /* scratch of a pass: its place in the program, by graph_number_rows */
    uint32_t n_edge; /* level sched: ops of other streams that must have finished */
    OpId *edge;      /* earlier ops of the same program, ascending */
} Op;

typedef VEC(OpId) OpList;

typedef struct Program {
    ProgramKind kind;
    StagePart part; /* from pass divide on: what of it these ops are, */
    int32_t stage;  /* and whose; of an update: the first stage of the ranks that do it */
    OpList ops;
    uint64_t peak;  /* level sched: bytes of the arena that this program touches, persistent ones
                       included, workspaces not */
    uint64_t *live; /* level sched: by position, bytes of the device that are live while the op
                       runs; NULL in a graph that was read as text */
} Program;

/* One instance of a module of the .fsd file, in pre-order; [0] is the root, path "". */
typedef struct Module {
    const char *path, *class_name; /* class "" = an array of submodules (a container) */
    int32_t parent;                /* index, NO_INDEX for the root */
    Span span;                     /* its field in the parent */
} Module;

typedef struct ParamName {
    const char *path; /* wte.weight */
    int32_t module;   /* row of the modules table that declares it */
    Span span;
} ParamName;

typedef struct Param {
    ParamName name;         /* first occurrence in pre-order: decides the place in flat layouts */
    VEC(ParamName) aliases; /* further names (tie a = b), in pre-order */
    const char *key;        /* name that --save writes and Philox is keyed by: the path on the
                               right of `=` for a tied one, else name.path */
    const char *checkpoint; /* key through the model's names table */
    bool checkpoint_transposed;
    Type type;         /* dtype = master dtype */
    int compute_dtype; /* set by precision: what the computation reads; frontend: = master */
    int reduce_dtype;  /* set by precision: of its gradient */
    int gather;        /* in which it is gathered and read; DT_NONE: as policy.gather says */
    InitKind init;
    double init_mean, init_std;      /* INIT_NORMAL */
    bool no_decay, frozen, keep_f32; /* @no_decay @frozen @f32 */
    bool replicate;                  /* every rank holds it whole */
    bool uncut;                      /* every rank along axes that cut values holds it whole */
    int64_t split_axis;              /* with layout = param: the axis along which ranks share it */
    TensorCut cut;                   /* set by pass cut; place makes the type that of a part */
    int32_t stage;                   /* set by stage: that which reads it; .. */
    int32_t copy_of;                 /* .. row + 1 of which it is the copy of a later stage; 0:
                                        it is a parameter of the model, and these come first */
    int32_t readers;                 /* .. number of the set of stages that read it; 0: one */
    AxisSet partial;                 /* set by place: axes that do not read other samples and over
                                        which its gradient is still to be summed */
    bool matrix;                     /* Muon moves it as a matrix, not AdamW by elements */
    bool grouped;                    /* has numbers of its own: */
    double lr_factor, weight_decay;  /* factor of the optimizer's lr; in the place of its decay */
} Param;

/* A persistent buffer: of a group of parameters, or of the whole step. */
typedef struct State {
    StateRole role;
    const char *name; /* "step", "loss", "eval.loss", "eval.accuracy", "h.0.m", .. unique */
    Type type;
    int32_t group;    /* NO_INDEX: of none */
    AxisSet split;    /* of a group: axes over which it is split; new ones as the group is */
    AxisSet partial;  /* of a group: axes over which it is still to be summed */
    int32_t stage;    /* whose ranks have it; NO_INDEX: every rank */
    uint64_t address; /* level sched; of a kept activation: in slot 0 */
} State;

/* One field of the batch, as the data source declares it. type is that of one call on one rank:
 * the first axis is the local batch. */
typedef struct Field {
    const char *name;
    Type type;
    uint64_t staging; /* offset in a staging slot, multiple of 64 */
    int32_t of;       /* NO_INDEX; or the field of which it has all micro-batches of the step */
} Field;

/* Does a sample have one id for each of its positions? */
static inline bool field_has_positions(const Type *t) { return t->dtype == DT_I32 && t->rank == 2; }

/* A unit: what is gathered together. From wrap on. Order: as wrap.json, inner before
 * outer, the root last. A unit without parameters does not exist. */
typedef struct Unit {
    const char *name;       /* module paths joined by "+"; "" = root */
    const char *class_name; /* of its first module */
    VEC(int32_t) modules;
    int64_t below; /* elements of distinct parameters below its modules */
    int64_t owned; /* elements that it owns */
    VEC(int32_t) groups;
    UnitReshard reshard;
    bool is_root;
    int32_t stage; /* a unit of several stages is a row for each, the first one first */
} Unit;

typedef struct GroupParam {
    int32_t param;
    int64_t offset, chunk; /* elements; see LayoutPlace */
} GroupParam;

/* A flat parameter: the parameters of a unit that agree in dtypes and in how they are trained. What
 * one reduction carries, a bucket, is made of those of a unit that are reduced in one dtype. */
typedef struct Group {
    int32_t unit;
    bool trainable, matrices; /* matrices: of parameters that Muon moves */
    int master_dtype, compute_dtype, reduce_dtype;
    int wire_dtype;  /* in which it is gathered; not the compute dtype only where it is quantized */
    AxisSet cut;     /* axes along which ranks share out each of its parameters (Param.cut) */
    AxisSet partial; /* axes besides those of samples over which gradients are summed */
    VEC(GroupParam) params;
    Layout layout;
} Group;

typedef struct StringList {
    VEC(const char *) at;
} StringList;

/* Everything that passes read besides the ops: policy.def, the mesh and how units are made. Printed
 * in the header of a graph. */
/* Paths of modules, which may have stars, as section shard lists them. */
typedef struct PathList {
    StringList paths;
    Span span;
} PathList;

typedef struct PathLists {
    VEC(PathList) at;
} PathLists;

/* What section shard says of modules by their path, besides units. */
typedef struct PathPolicy {
    PathPolicyKind kind;
    const char *glob;
    UnitReshard reshard; /* PATH_RESHARD */
    int64_t group;       /* RESHARD_PART: ranks of a group */
    Span span;
} PathPolicy;

/* Which activations backward computes again, besides those of paths. */
typedef struct RecomputePolicy {
    StringList classes; /* of modules: all that is computed below them .. */
    StringList keep;    /* .. except these ops */
    StringList ops;     /* these wherever they stand */
    Span span;
} RecomputePolicy;

typedef struct Policy {
    Mesh mesh;
    UnitPolicy unit;
    StringList unit_classes;     /* UNIT_CLASS */
    int64_t unit_size;           /* UNIT_SIZE: elements */
    StringList unit_leaf;        /* UNIT_SIZE: leaf classes */
    VEC(StringList) unit_manual; /* UNIT_MANUAL: each a list of module paths */
    Span unit_span;              /* for errors of wrap */
    Span reshard_span;           /* the same of passes reshard and comm: of their settings */
    Span prefetch_span, inflight_span;
    PathLists unit_by_hand; /* besides those of the rule, `"glob" = unit` or join(..): each module
                               that the one path names, or one unit of all that several name */
    PathLists stage_lists;  /* by stage; empty: stages by predicted time */
    RecomputePolicy recompute;
    VEC(PathPolicy) by_path;
#define POLICY(section, field, type, kind, words, default_value, least, most, line) type field;
#include "policy.def"
#undef POLICY
} Policy;

/* Level sched: the memory of the ranks of one place on axis pp, the same for all their programs. A
 * micro-batch has a slot of kept activations from its forward to its backward; they lie before
 * states that are lent. */
typedef struct RoleMemory {
    uint64_t persistent_bytes;              /* states lie in [0, persistent_bytes) */
    uint64_t arena_bytes;                   /* peak over programs, without workspaces */
    uint64_t host_persistent, host_bytes;   /* the same of host memory, after HOST_BASE */
    uint64_t workspace_bytes[DEVICE_KINDS]; /* after arena_bytes, one for all programs */
    uint64_t kept_at, kept_bytes;           /* the first slot; bytes of each */
    uint64_t kept_slots;
} RoleMemory;

typedef struct Graph {
    Arena *arena;
    Arena *scratch; /* for tables of the pass in work: graph_settle empties it */
    DiagSet *diags;
    OpLevel level;
    Policy policy;
    VEC(Module) modules;
    VEC(Param) params;
    VEC(State) states;
    VEC(Field) fields;
    VEC(Unit) units;
    VEC(Group) groups;
    VEC(Formula) formulas; /* of ops fused */
    VEC(Op) ops;           /* also such as are in use no more; programs say which are */
    VEC(Value) values;
    struct GraphStore *store; /* where ops and values lie */
    VEC(Program) programs;
    VEC(RoleMemory) roles; /* level sched: by place on axis pp */
} Graph;

/* The roles of the mesh, and whose program or stage it is: stages go round over the roles. */
/* The op of which v is a result. */
static inline const Op *value_maker(const Graph *g, ValueId v) {
    return &g->ops.at[g->values.at[v].def];
}
static inline uint32_t graph_roles(const Graph *g) {
    return (uint32_t)mesh_stages(&g->policy.mesh);
}
static inline uint32_t graph_role_of(const Graph *g, int32_t stage) {
    return (uint32_t)stage % graph_roles(g);
}
/* How many stages the model is cut into: several for each role where they are interleaved. */
static inline uint32_t graph_stages(const Graph *g) {
    return (uint32_t)MAX(mesh_stages(&g->policy.mesh), g->policy.stages);
}
static inline bool graph_has_stages(const Graph *g) { return graph_roles(g) > 1; }

/* How many of a unit's groups are split, and so gathered; those come before the ones that every
 * rank holds whole. */
static inline uint32_t unit_split_groups(const Graph *g, int32_t unit) {
    const Unit *u = &g->units.at[unit];
    uint32_t n = 0;
    while (n < u->groups.n && g->groups.at[u->groups.at[n]].layout.split) n++;
    return n;
}

/* layout = param: the elements of a chunk of the parameter, where groups are split over these axes.
 */
static inline int64_t param_chunk(const Graph *g, AxisSet split, const Param *p) {
    int64_t n = type_elements(&p->type), below = 1;
    const int64_t *dim = p->type.dim;
    if (!p->split_axis) return layout_chunk(&g->policy.mesh, split, p->type.rank ? dim[0] : 1, n);
    for (int k = (int)p->split_axis + 1; k < p->type.rank; k++) below *= dim[k];
    return layout_chunk_along(&g->policy.mesh, split, dim[p->split_axis], below, n);
}

/* Where the group's parameter number k is in it; whether all of them are in one piece. */
static inline LayoutPlace group_place(const Graph *g, const Group *group, uint32_t k) {
    const GroupParam *at = &group->params.at[k];
    LayoutPlace p = {type_elements(&g->params.at[at->param].type), at->offset, at->chunk};
    return p;
}
/* The type of its parameter k as all ranks together have it. */
static inline Type group_whole_type(const Graph *g, const Group *group, uint32_t k) {
    const Param *p = &g->params.at[group->params.at[k].param];
    Type whole = p->type;
    int64_t *dim = &whole.dim[p->cut.dim];
    *dim = tensor_whole_elements(&p->cut, &g->policy.mesh, *dim);
    return whole;
}
/* The parameter of the model that row p is, or is a copy of. */
static inline int32_t param_of_model(const Graph *g, int32_t p) {
    int32_t of = g->params.at[p].copy_of;
    return of ? of - 1 : p;
}
/* Groups of which the first parameter is the same are alike: those of the stages that read it. */
static inline int32_t group_shared(const Graph *g, const Group *group) {
    return param_of_model(g, group->params.at[0].param);
}
static inline bool group_is_copy(const Graph *g, const Group *group) {
    return g->params.at[group->params.at[0].param].copy_of != 0;
}
/* The sum over its parameters of a number that follows from their whole types. */
static inline int64_t group_total(const Graph *g, const Group *group,
                                  int64_t (*of)(const Type *whole)) {
    int64_t n = 0;
    for (uint32_t k = 0; k < group->params.n; k++) {
        Type whole = group_whole_type(g, group, k);
        n += of(&whole);
    }
    return n;
}
/* How many blocks of its parameters are quantized by a largest weight of their own. */
static inline int64_t group_blocks(const Graph *g, const Group *group) {
    int64_t n = 0;
    for (uint32_t k = 0; k < group->params.n; k++)
        n += quantized_blocks(group->wire_dtype, group_place(g, group, k).n);
    return n;
}
static inline bool group_is_whole(const Graph *g, const Group *group) {
    bool whole = true;
    for (uint32_t k = 0; k < group->params.n; k++) {
        LayoutPlace p = group_place(g, group, k);
        whole &= layout_is_whole(&p);
    }
    return whole;
}

/* graph.c: building */
Graph *graph_new(Arena *a, DiagSet *ds);
/* Where the ops that a pass adds come from, and which program they go to. */
typedef struct Builder {
    Graph *g;
    uint32_t program;
    const char *path;
    Span span;
    uint8_t phase;
    int32_t unit;
    int16_t stage;
} Builder;
/* Appends an op to the builder's program and infers its result types; `given` must be there for
 * ops whose maker states the result's type (op_info[].given), else NULL. The result type follows
 * the operands' dtypes. A failure is a bug of the caller: use op_infer first on user input. */
OpId op_emit(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
             const Type *given);
/* The same with a single result, returning that value. */
ValueId emit_value(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
                   const Type *given);
/* The same as op_emit, but the op is in no program's list yet. */
OpId op_emit_apart(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
                   const Type *given);
/* A copy of the op on other operands, with results of its own; it is in no list yet. */
OpId graph_copy_op(Graph *g, const Op *op, const ValueId *in);
/* The ops that follow have path, span, phase and unit of that one. */
void builder_like(Builder *b, const Op *op);
ValueId emit_state(Builder *b, int32_t state); /* as it is when the program starts */
void emit_set_state(Builder *b, int32_t state, ValueId v);
OpKind update_op(const Policy *p, bool matrix); /* which op updates weights, Param.matrix or not */
/* A copy in its own arena, which reports to ds: passes on one leave the other as it is. The graph
 * is of level model or train; strings and attributes stay where they are, so it outlives the copy.
 */
Graph *graph_fork(const Graph *g, Arena *a, DiagSet *ds);
/* Appends to the tables; what they held before stays readable where it was until graph_settle. */
OpId graph_add_op(Graph *g, const Op *op);
ValueId graph_add_value(Graph *g, const Value *v);
/* Between passes: gives back scratch and what the tables have grown out of and, where many ops are
 * in use no more, drops those and numbers ops and values anew, in the order of the programs. */
void graph_settle(Graph *g);
/* What ops and values are called in text, by row: they are counted in the order of the programs;
 * NO_OP, NO_VALUE: no program has them. */
typedef struct GraphNumbers {
    uint32_t *op, *value, ops, values;
} GraphNumbers;
GraphNumbers graph_numbers(const Graph *g, Arena *a);
/* The program's list, which becomes empty, so that a pass can write it anew. */
static inline OpList program_take(Program *p) {
    OpList old = p->ops;
    p->ops = (OpList){0};
    return old;
}
/* Numbers the ops of a program, and their results, from 0 in the fields `row`, for tables that are
 * about this program alone. The result is how many values there are. */
uint32_t graph_number_rows(Graph *g, const Program *p);
uint32_t graph_add_program(Graph *g, ProgramKind kind);
int32_t graph_find_program(const Graph *g, ProgramKind kind); /* NO_INDEX if there is none */
int32_t graph_find_state(const Graph *g, const char *name);   /* NO_INDEX if there is none */
int32_t graph_add_state(Graph *g, StateRole role, const char *name, Type t, int32_t group);
/* Attributes of an op before anyone sets them: index, unit and group are NO_INDEX where the op has
 * them, the rest zero. op_emit takes NULL for these. */
Attrs attrs_default(OpKind kind);
/* What of a (NULL: the default) belongs to the op, as the graph keeps it; graph_store.c. */
const Attrs *graph_attrs(Graph *g, OpKind kind, const Attrs *a);
const char *program_name(ProgramKind k); /* train, eval, first, micro, last, update */
const char *level_name(OpLevel l);
const char *state_role_name(StateRole r);

/* shape.c: result types from operands. Returns NULL and fills out[], or a message (in the arena)
 * that says what does not fit. n_out in: op_results_max (infer.h) or more; out: number of results.
 * g may be NULL for ops that read no table. Ops whose maker states the type (op_info[].given) find
 * it in out[0] and have it checked. Operand types must be sound (type_sound); the results are. */
const char *op_infer(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in, const Type *in,
                     uint32_t *n_out, Type *out, Arena *arena);
/* Whether these result types are what op_infer gives. Where `precision` may choose a dtype
 * (signature_dtype_is_free) any float dtype is right. NULL or a message. */
const char *op_check_types(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in,
                           const Type *in, uint32_t n_out, const Type *out, Arena *arena);
/* The types of its operands, then of its results: in `few` if there is room for them. */
enum { FEW_TYPES = 32 };
const Type *op_types(const Graph *g, const Op *op, Type few[FEW_TYPES]);
/* Do both stand at the same place of the model file and in the same module? */
bool op_same_origin(const Op *a, const Op *b);
/* Result j's operand whose memory it must take (ALIAS_MUST, ALIAS_ACC, ALIAS_VIEW), or -1. */
int op_alias_must(const Op *op, uint32_t j);
/* Bytes from a value's address on that it may be in: all slots, since it is in one of them. */
static inline uint64_t value_room(const Graph *g, const Value *v) {
    return (uint64_t)type_bytes(&v->type) * (uint64_t)mesh_extent(&g->policy.mesh, v->slots);
}
/* Does the op only name memory (a state, a view)? It keeps no stream busy, nothing waits for it. */
static inline bool op_only_names(const Op *op) {
    return op->kind == OP_state || op_info[op->kind].alias == ALIAS_VIEW;
}

/* Does the address lie in the memory of a state? */
static inline bool address_is_persistent(const RoleMemory *m, uint64_t address) {
    return address_offset(address) <
           (address_is_host(address) ? m->host_persistent : m->persistent_bytes);
}
/* Whether the stream's ops run ahead of their readers, as far as the list allows. */
static inline bool stream_runs_ahead(uint8_t stream) {
    return stream == STREAM_GATHER || stream == STREAM_FETCH;
}

/* text.c: `ops` lists the ops of graphs and plans with their signatures, `op.NAME` is a page
 * about one. false: topic is neither. */
bool op_help(const char *topic, Buf *out);

/* print.c, parse.c: canonical text. Printing, parsing, printing is the identity at every level. */
void graph_print(const Graph *g, Buf *out);
/* NULL after reporting errors. name is for messages. text ends with a NUL and outlives ds. Any text
 * is safe to read; graph_verify says whether the graph is a valid one. */
Graph *graph_parse(Arena *a, DiagSet *ds, const char *name, const char *text, size_t n);

/* verify.c: numbered rules per level ("model-1", "shard-2", ..). Read-only. Returns the number of
 * broken rules; each is reported through g->diags with its id, the op and its source line. */
int graph_verify(const Graph *g);
typedef struct VerifyRule {
    const char *id, *claim;
} VerifyRule;
extern const VerifyRule verify_rules[];
extern const int n_verify_rules;

#endif

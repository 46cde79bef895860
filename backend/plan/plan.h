/* The plan: the file that fsdpc writes and fsdp-run executes, and its two guards.
 *
 * In: bytes of a file. Out: a Plan, whose tables are pointers into these bytes. The reader
 * (plan_read) accepts a plan only if every index, size and string stays inside the file; the
 * checker (plan_check) accepts it only if its program does what the tables demand, in every order
 * that its streams allow. Whatever uses a plan may rely on both.
 *
 * Layout of the file, little-endian, every section aligned to 16 bytes:
 *   PlanHeader | PlanSection[n_sections] | sections
 * A section is the string table or an array of one of the structs below. Strings are offsets into
 * the string table, NUL-terminated; offset 0 is "". The reader ignores sections of an unknown kind,
 * so that later versions can add sections; `oldest_reader` is the oldest format version whose
 * readers can still read the file.
 *
 * Both programs include this header: types first, then how to read them, then the functions by
 * file. It depends only on ir/.
 */
#ifndef FSDPC_PLAN_H
#define FSDPC_PLAN_H

#include "formula.h"
#include "placements.h"
#include "shards.h"
#include "stored.h"
#include "type.h"
#include "util.h"

#define FSDPC_VERSION "0.1.0" /* of both programs */
#define PLAN_MAGIC "FSDPLAN1"
enum { PLAN_VERSION = 2, PLAN_ALIGN = 256 };

typedef struct PlanHeader {
    char magic[8];
    uint32_t version, oldest_reader;
    uint64_t size;        /* of the whole file */
    uint64_t checksum;    /* XXH3 of the file with this field zero */
    uint64_t fingerprint; /* XXH3 of all that follows the header: equal plans have equal ones */
    uint32_t n_sections;
    uint32_t rules; /* plan_rules() of the compiler; a reader with different rules refuses it */
} PlanHeader;

typedef struct PlanSection {
    uint32_t kind, element; /* PlanSectionKind; bytes of one element */
    uint64_t offset, count; /* offset from the start of the file; elements */
} PlanSection;

typedef uint32_t PlanString;

/* SECTION(field of Plan, struct, name in dumps). Order = kind = order in the file. */
#define PLAN_SECTIONS(SECTION)                                                                     \
    SECTION(strings, char, "strings")                                                              \
    SECTION(settings, PlanSettings, "settings") /* exactly one */                                  \
    SECTION(axes, PlanAxis, "mesh")                                                                \
    SECTION(files, PlanFile, "files")                                                              \
    SECTION(params, PlanParam, "parameters")                                                       \
    SECTION(aliases, PlanAlias, "aliases")                                                         \
    SECTION(names, PlanNames, "names tables")                                                      \
    SECTION(other_names, PlanOtherName, "names in further tables")                                 \
    SECTION(skips, PlanString, "names that are skipped")                                           \
    SECTION(units, PlanUnit, "units")                                                              \
    SECTION(groups, PlanGroup, "groups")                                                           \
    SECTION(group_params, PlanGroupParam, "group parameters")                                      \
    SECTION(states, PlanState, "states")                                                           \
    SECTION(saves, PlanSave, "saves")                                                              \
    SECTION(fields, PlanField, "fields")                                                           \
    SECTION(formulas, PlanFormula, "formulas")                                                     \
    SECTION(steps, FormulaStep, "steps of formulas")                                               \
    SECTION(sources, PlanSource, "data sources")                                                   \
    SECTION(source_fields, PlanSourceField, "source fields")                                       \
    SECTION(facts, PlanFact, "facts of the model")                                                 \
    SECTION(model_programs, PlanModelProgram, "programs of the model")                             \
    SECTION(nodes, PlanNode, "ops of the model")                                                   \
    SECTION(node_operands, uint32_t, "operands in the model") /* values of the model */            \
    SECTION(node_words, uint64_t, "attributes in the model")                                       \
    SECTION(programs, PlanProgram, "programs")                                                     \
    SECTION(calls, PlanCall, "calls")                                                              \
    SECTION(roles, PlanRole, "roles")                                                              \
    SECTION(values, PlanValue, "values")                                                           \
    SECTION(instrs, PlanInstr, "instructions")                                                     \
    SECTION(operands, uint32_t, "operands") /* value numbers */                                    \
    SECTION(edges, uint32_t, "edges")       /* instruction numbers */                              \
    SECTION(stored, PlanStored, "tensors in parts")                                                \
    SECTION(parts, StoredPart, "parts of tensors")                                                 \
    SECTION(placements, Placement, "placements") /* different ones */

typedef struct PlanSettings { /* grouped as far as the layout of the file allows */
    /* where the plan comes from */
    PlanString model, compiler; /* base name of the .fsd; version of fsdpc */
    PlanString command; /* arguments of `fsdpc compile` without ranks and -o, for messages; files
                           appear by base name, so that folders make no difference */
    /* batches and the length of the run */
    uint32_t ranks;
    int64_t batch, micro_batches; /* samples of a step over all ranks; micro-batches of a step */
    int64_t local_batch;          /* samples of one program call on one rank */
    int64_t length;               /* tokens of a sample; 0 for npy */
    int64_t steps, epochs;        /* one of them is 0 */
    int64_t eval_every, eval_steps;
    uint64_t seed;
    uint32_t order;  /* DataOrder */
    uint32_t on_nan; /* OnNan */
    /* the optimizer */
    uint32_t optimizer, schedule; /* OptimizerKind, ScheduleKind */
    double lr, beta1, beta2, beta3;
    double warmup, decay, final; /* steps; last steps, of wsd; factor of lr at the end */
    int64_t loss_exponent;
    /* memory and traffic */
    uint64_t persistent_bytes,
        arena_bytes;           /* of states, which come first; peak without workspace */
    uint64_t workspace_offset; /* = align_up(arena_bytes, PLAN_ALIGN) */
    uint64_t workspace_bytes[DEVICE_KINDS]; /* the largest role's whole allocation */
    uint64_t sent_bytes; /* predicted: what a rank sends in a step with ring collectives */
    int64_t parameters;  /* elements of all distinct parameters */
    double beta2_decay;  /* 1 - beta2 is the number of the step to this power; 0: beta2 counts */
    /* checkpoints */
    PlanString hf_config;  /* text of config.json for a folder of weights; "" = none */
    PlanString hf_facts;   /* JSON: what its keys are if a file lacks them; keys without effect */
    PlanString checkpoint; /* folder of checkpoints; "" = none, and the next four are 0 */
    int64_t checkpoint_every, keep, keep_every; /* 0 = only at the end; all; none */
    uint32_t keep_best;                         /* 0 or 1 */
    uint32_t snapshot; /* Snapshot: how saves leave the arena, even if --checkpoint asks for them */
    uint64_t copy_bytes; /* host memory of a rank for the copy of the state; 0 = no copy */
    /* precision: scaling of losses and gradients */
    double gain;                                  /* factor of the mean gradient; 0 means 1 */
    double loss_scale, loss_growth, loss_backoff; /* of f16: see policy.def; 0: no loss scale */
    int64_t loss_interval;                        /* 0: the loss scale is fixed */
    /* host memory (offload), and the form of checkpoints */
    uint64_t host_persistent, host_bytes; /* states, which come first; the host's whole arena */
    PlanString host_path; /* folder of the file that backs the host's arena; "" = memory */
    uint32_t form;        /* CheckpointForm, even if --checkpoint asks for them */
    uint32_t
        host_pageable; /* 1: not pinned, even if a device could copy faster from pinned memory */
    /* dtypes: of computation, of sums of gradients, of gathered parameters (DT_NONE: the compute
     * dtype, or nothing is gathered) */
    uint8_t compute_dtype, reduce_dtype, gather_dtype, pad;
} PlanSettings;

typedef struct PlanAxis {
    PlanString name;
    uint32_t role; /* AxisRole */
    int64_t size;
} PlanAxis;

typedef struct PlanFile { /* source map: row 0 means "no place" */
    PlanString base;
    uint32_t pad;
    uint64_t hash;
} PlanFile;

typedef struct PlanParam {
    PlanString name, key, checkpoint; /* path; key; the key renamed by the first names table */
    uint32_t init;                    /* InitKind */
    uint32_t flags;                   /* PARAM_* */
    uint32_t first_alias, n_alias;
    uint32_t gather_dtype;          /* DT_NONE: that of the settings */
    double init_mean, init_std;     /* of normal */
    double lr_factor, weight_decay; /* of PARAM_GROUPED: factor of the step's lr; weight decay */
    TensorCut cut;
    Type type; /* master dtype; the shape of a rank's part (plan_whole_type: of all of it) */
} PlanParam;
enum {
    PARAM_TRANSPOSED = 1,
    PARAM_NO_DECAY = 2,
    PARAM_FROZEN = 4,
    PARAM_GROUPED = 8,
    PARAM_MATRIX = 16,
    PARAM_IN_PARTS = 32,
    PARAM_F32 = 64,   /* read in f32, and its gradient summed in f32 */
    PARAM_WHOLE = 128 /* replicated on every rank, whatever the strategy splits */
};

typedef struct PlanAlias {
    PlanString name, checkpoint;
} PlanAlias;

/* A names table: how a file of weights may name the parameters. The names of the first table are in
 * the rows of parameters and aliases; table t > 0 has n_params + n_aliases rows of other_names,
 * from row (t - 1) * (n_params + n_aliases) on, those of the parameters first. */
typedef struct PlanNames {
    PlanString label;
    uint32_t first_skip, n_skip, pad; /* patterns of tensors to ignore */
} PlanNames;

typedef struct PlanOtherName {
    PlanString checkpoint;
    uint32_t flags; /* PARAM_TRANSPOSED, PARAM_IN_PARTS or 0 */
} PlanOtherName;

/* A tensor in files of weights that does not hold exactly one parameter, and the parts of
 * parameters that it consists of. Such a parameter has PARAM_IN_PARTS in that names table, and the
 * name "". Tensors ascend by table, their parts share out the rows of `parts`, and each element of
 * the parameter is in one part. */
typedef struct PlanStored {
    PlanString name;
    uint32_t table;
    uint32_t first_part, n_part;
    int32_t rank;
    uint32_t pad;
    int64_t dim[MAX_RANK];
} PlanStored;

typedef struct PlanUnit {
    PlanString name, class_name;
    uint32_t first_group, n_group;
    int64_t below, owned;
} PlanUnit;

typedef struct PlanGroup { /* a flat parameter, see Group in ir.h */
    uint32_t unit, flags;  /* GROUP_* */
    uint32_t first_param, n_param;
    uint32_t master_dtype, compute_dtype, reduce_dtype, wire_dtype; /* wire: it is gathered in */
    AxisSet split;   /* axes over which master and moments are split */
    AxisSet cut;     /* axes along which ranks share out each of its parameters (PlanParam.cut) */
    AxisSet partial; /* axes besides those of samples over which its gradient is a sum of ranks'
                        terms */
    uint32_t pad;
    int64_t unpadded, padded, shard;
} PlanGroup;
enum { GROUP_TRAINABLE = 1, GROUP_MATRICES = 2 }; /* the second: updated by Muon */

typedef struct PlanGroupParam {
    uint32_t param, pad;
    int64_t offset, chunk; /* elements; see LayoutPlace */
} PlanGroupParam;

typedef struct PlanState { /* persistent buffer; role: StateRole */
    PlanString name;
    uint32_t role;
    int32_t group;
    uint32_t stage;   /* 1 + the stage whose ranks have it; 0: every rank */
    uint64_t address; /* of a kept activation: in the first slot of its role */
    Type type;
} PlanState;

/* The instructions of stream `save`, in order. After a step for which a checkpoint is due, they run
 * concurrently with the calls of the next step, and an instruction that overwrites a state waits
 * for them (PlanInstr.saves). Save k writes this rank's part of a state (layout_written) to the
 * rank's files: from the state's own memory, or from a copy in host memory, in which case the step
 * waits only for the copy. All copies are made before anything is written. */
typedef struct PlanSave {
    uint32_t state;
    uint32_t copied; /* 1: from the copy; with snapshot = copy all saves, or the last ones */
    uint64_t bytes;  /* a rank writes at most this many */
    uint64_t at;     /* offset in the role's copy, a multiple of PLAN_ALIGN; 0 without one */
} PlanSave;

typedef struct PlanField {
    PlanString name;
    uint32_t of;      /* 0; or 1 + the field of which it has all micro-batches of a step */
    uint64_t staging; /* offset in a staging slot */
    Type type;        /* of one call on one rank */
} PlanField;

typedef struct PlanFormula { /* of a fused instruction: see formula.h */
    uint32_t first_step, n_step;
    uint32_t n_in, n_out;
} PlanFormula;

typedef struct PlanSource {
    PlanString name;               /* "train" or "val" */
    uint32_t kind;                 /* SourceKind */
    PlanString path;               /* text: file; tokens: glob; as written in the .fsd */
    uint32_t first_field, n_field; /* npy, synthetic */
    uint32_t corruption;           /* Corruption; without one, the next seven are 0: */
    int64_t raw, noise, spans;     /* tokens of a sample before; masked or removed; spans */
    int64_t mask, end;             /* ids: the mask, or the first mark of a span; the end */
    int64_t words;                 /* random tokens are below this; 0: below the vocabulary */
    uint64_t draw;                 /* seed that chooses the masked or removed tokens */
    double from, to;               /* text */
    int64_t samples, vocab;        /* synthetic, synthetic tokens */
    uint64_t seed;                 /* of both */
} PlanSource;
typedef struct PlanSourceField {
    PlanString name, path; /* path: npy */
    int64_t classes;       /* synthetic: ids are below this; 0 = real numbers */
} PlanSourceField;

/* A statement of the model file that is not part of the graph; see facts.h. */
typedef struct PlanFact {
    PlanString name;
    uint32_t kind;  /* FactKind */
    uint64_t value; /* a double's bits, a PlanString, or a whole number */
} PlanFact;

/* What the plan must compute: the graph as the frontend made it, before any pass. Program train
 * precedes eval. Values of the model are numbered in the order of its nodes. */
typedef struct PlanModelProgram {
    uint32_t kind; /* PROGRAM_TRAIN, PROGRAM_EVAL */
    uint32_t first_node, n_node, pad;
} PlanModelProgram;
typedef struct PlanNode {
    uint16_t op, rank;           /* rank of result 0 */
    uint32_t first_in, n_in;     /* node_operands: values of the same program */
    uint32_t first_out, n_out;   /* its results */
    uint32_t first_word, n_word; /* node_words: the op's attributes in the order of attrs.def,
                                    then the sizes of result 0 */
    PlanString path;             /* module path */
    uint32_t file, line;         /* of files; 0: none */
} PlanNode;

/* Programs, and the calls that each role makes of them. On a rank, a call begins when every stream
 * of the previous call has finished; only states outlive it. A step of a role consists of its calls
 * of kind PLAN_STEP in order, each repeated `times` times; a batch of an evaluation, of its calls
 * of kind PLAN_EVALUATION. */
typedef struct PlanProgram {
    uint32_t kind; /* ProgramKind */
    uint32_t first_instr, n_instr;
    uint16_t part, stage; /* StagePart; of a pipeline: which stage's it is */
    uint64_t peak;        /* most bytes of the arena in use */
} PlanProgram;
typedef enum PlanCallKind { PLAN_STEP, PLAN_EVALUATION } PlanCallKind;
/* The repeats of a call are for one micro-batch after the other. What forward of a stage keeps for
 * backward of the same micro-batch is in slot `slot` of the role: addresses of kept activations
 * are that many times kept_bytes further. */
typedef struct PlanCall {
    uint32_t role, kind, program, slot;
    int64_t times, micro; /* micro: the first one; of an evaluation and an update 0 */
} PlanCall;
/* The ranks of one place on axis pp, [first, first + count), and the memory that each of them
 * allocates. What the settings say of memory is the largest of these numbers. */
typedef struct PlanRole {
    uint32_t first_rank, n_ranks;
    uint64_t persistent_bytes, arena_bytes;
    uint64_t host_persistent, host_bytes;
    uint64_t workspace_bytes[DEVICE_KINDS];   /* the whole allocation: arena and scratch bytes */
    uint64_t kept_at, kept_bytes, kept_slots; /* the last of the states that are not lent */
    uint64_t sent_bytes;
} PlanRole;

/* A value: a typed range of the arena, used within one program; states enter it through instruction
 * `state`. An address from HOST_BASE on means host memory (type.h). With `slots`, the address is
 * that of an array of slots of the value's size, one for each rank along these axes, and the value
 * is in this rank's slot: an operand of a gather lies inside the memory of the result. */
typedef struct PlanValue {
    uint32_t def;     /* number of the instruction that writes it */
    uint16_t placed;  /* 1 + row of placements; 0: every rank along axes that cut values has all of
                         it. Kernels whose op's cut says `at` rely on it, and proof 10 on that of
                         what other ops of the model make; of flat vectors it says nothing */
    uint16_t slots;   /* AxisSet; 0: the value is at the address itself */
    uint64_t address; /* meaningless for tokens */
    Type type;
} PlanValue;

/* An instruction. Numbers of instructions, values, operands and edges count over the whole plan;
 * a program is a contiguous range of instructions, in issue order. */
typedef struct PlanInstr {
    uint16_t op;
    uint8_t stream, phase;
    uint32_t first_in, n_in;     /* range of the operand table */
    uint32_t first_out, n_out;   /* range of values: its results, whose def it is */
    uint32_t first_edge, n_edge; /* range of the edge table: instructions of the same program
                                    on other streams that end first; must be earlier (check-7a) */
    int32_t unit;                /* row of units, or -1 */
    PlanString path;             /* module path */
    uint32_t file, line, col, end_line, end_col;
    uint32_t flags;        /* INSTR_* */
    uint32_t saves;        /* it begins after this many saves, from the first on, have finished */
    uint64_t flops, bytes; /* predicted work; flops: at most 2^62 */
    uint64_t live_bytes;   /* predicted bytes live while it runs, in issue order */
    Attrs attr;
} PlanInstr;
enum { INSTR_RECOMPUTED = 1 }; /* recomputes an instruction of forward in backward */

typedef struct Plan {
    const PlanHeader *header;
#define SECTION(field, type, name)                                                                 \
    const type *field;                                                                             \
    uint64_t n_##field;
    PLAN_SECTIONS(SECTION)
#undef SECTION
    void *owned; /* the bytes, if plan_open read them */
} Plan;

/* What plan_check found. */
typedef struct PlanFault {
    char rule[16];     /* check-2a */
    uint64_t instr;    /* the instruction that breaks it; UINT64_MAX = the plan as a whole */
    char message[512]; /* the claim that fails, with values and addresses */
} PlanFault;
/* What the checker recomputed, for reports and tests. Valid after plan_check returned 0. Counts are
 * over all programs; an instruction counts once, however often its program runs. */
typedef struct PlanCheckResult {
    uint64_t peak;           /* high-water mark of the arena, from instructions alone */
    uint64_t reads;          /* 1: operands whose write comes before */
    uint64_t values;         /* 2: values that have memory of their own */
    uint64_t gathers, views; /* 3: unshards; views of flat parameters */
    uint64_t parameters, contributions, reductions; /* 4: trained; to their gradients; of these */
    uint64_t collectives;                           /* 5 */
    uint64_t nodes, terms, facts;                   /* 8: ops, losses and metrics of the model */
    uint64_t dtypes;                                /* 8: results whose dtype precision chooses */
    uint64_t saves, save_bytes, holds;   /* 9: saves; most bytes that they write on a rank;
                                            instructions that wait for them */
    uint64_t cut_values, partial_values; /* 10: of which a rank has a part; a term of a sum */
    uint32_t live_units[8]; /* by program: most units other than the root unsharded at once */
} PlanCheckResult;

/* plan_types.c: do these types of operands, then of results, fit the op of the instruction, its
 * attributes and the plan's tables? */
bool plan_types_might_fit(const Plan *p, const PlanInstr *in, const Type *types);

/* ---- reading a plan's tables */

static inline Layout plan_layout(const PlanGroup *g) {
    Layout l = {g->split, g->cut, g->unpadded, g->padded, g->shard, 0, 0};
    return l;
}
/* Is the state in a checkpoint? */
static inline bool state_is_saved(uint32_t role) {
    return role >= STATE_PARAM && role <= STATE_FACTORS;
}
/* How a state lies over the ranks: like its group, except that every rank has all factors. */
static inline Layout state_layout(uint32_t role, const Layout *group, const Mesh *mesh,
                                  int64_t elements) {
    return role == STATE_FACTORS ? layout_of(mesh, 0, elements, false) : *group;
}
/* Inline, because modules of the runtime that are not linked with the reader use it too. */
static inline Mesh plan_mesh(const Plan *p) {
    Mesh m = {0, {{(AxisRole)0, 0}}};
    for (; m.n < MESH_AXES && (uint64_t)m.n < p->n_axes; m.n++) {
        m.axis[m.n].role = (AxisRole)p->axes[m.n].role;
        m.axis[m.n].size = p->axes[m.n].size;
    }
    return m;
}

/* The type of the whole parameter, of which a rank along axes that cut it has a part. */
static inline Type plan_whole_type(const Plan *p, const PlanParam *q) {
    Type whole = q->type;
    if (!q->cut.axes) return whole;
    Mesh mesh = plan_mesh(p);
    int64_t *dim = &whole.dim[q->cut.dim];
    *dim = tensor_whole_elements(&q->cut, &mesh, *dim);
    return whole;
}
/* Which elements of it a rank has. */
static inline TensorPart plan_part(const Plan *p, const PlanParam *q, int64_t rank) {
    Mesh mesh = plan_mesh(p);
    return tensor_part(&q->cut, &mesh, rank, q->type.dim, type_elements(&q->type));
}

/* How ranks share out the value; NULL: each has all of it. */
static inline const Placement *plan_placement(const Plan *p, const PlanValue *v) {
    return v->placed ? &p->placements[v->placed - 1] : NULL;
}

/* Over which axes ranks have other parts of the group's parameters, or none: together these ranks
 * have all of them. */
static inline AxisSet plan_gather_axes(const Plan *p, const PlanGroup *g) {
    Mesh mesh = plan_mesh(p);
    return g->split | g->cut | mesh_stage_axes(&mesh);
}

/* The layout of a state that is in checkpoints. */
static inline Layout plan_saved_layout(const Plan *p, const PlanState *s) {
    Mesh mesh = plan_mesh(p);
    Layout group = plan_layout(&p->groups[s->group]);
    Layout l = state_layout(s->role, &group, &mesh, type_elements(&s->type));
    return layout_of_stage(l, &mesh, (int64_t)s->stage - 1);
}

/* Where row k of the group parameters lies in its group. */
static inline LayoutPlace plan_place(const Plan *p, uint64_t k) {
    const PlanGroupParam *at = &p->group_params[k];
    LayoutPlace place = {type_elements(&p->params[at->param].type), at->offset, at->chunk};
    return place;
}
/* How many blocks with a scale of their own the first k parameters of the group have. */
static inline int64_t plan_blocks(const Plan *p, const PlanGroup *g, uint32_t k) {
    int64_t n = 0;
    for (uint32_t i = 0; i < k; i++)
        n += quantized_blocks((int)g->wire_dtype, plan_place(p, (uint64_t)g->first_param + i).n);
    return n;
}
/* The parameter's row of the group parameters, or n_group_params; *group: its group. */
static inline uint64_t plan_find_place(const Plan *p, uint64_t param, const PlanGroup **group) {
    for (uint64_t i = 0; i < p->n_groups; i++) {
        *group = &p->groups[i];
        for (uint64_t k = (*group)->first_param; k < (*group)->first_param + (*group)->n_param; k++)
            if (p->group_params[k].param == param) return k;
    }
    return p->n_group_params;
}
/* The axis along which row k of the group parameters is cut over the ranks; 0 where it is flat. */
static inline int plan_axis(const Plan *p, const PlanGroup *g, uint64_t k) {
    const Type *t = &p->params[p->group_params[k].param].type;
    LayoutPlace place = plan_place(p, k);
    Layout l = plan_layout(g);
    return layout_axis(&l, &place, t->dim, t->rank);
}
/* Is the group laid out by chunks? */
static inline bool plan_has_chunks(const Plan *p, const PlanGroup *g) {
    return p->group_params[g->first_param].chunk != 0;
}

/* What the update of a parameter multiplies the step's learning rate by, and its weight decay where
 * the optimizer's is `default_decay`. */
static inline double plan_lr_factor(const PlanParam *p) {
    return p->flags & PARAM_GROUPED ? p->lr_factor : 1.0;
}
static inline double plan_decay(const PlanParam *p, double default_decay) {
    if (p->flags & PARAM_NO_DECAY) return 0.0;
    return p->flags & PARAM_GROUPED ? p->weight_decay : default_decay;
}
/* Is the host's arena pinned, on devices that copy faster from pinned memory? */
static inline bool plan_host_is_pinned(const PlanSettings *s) {
    return !s->host_path && !s->host_pageable;
}
/* The role of a rank, and of a stage: stages go round over the roles. */
static inline uint32_t plan_role_of(const Plan *p, int64_t rank) {
    uint32_t role = 0;
    while (role + 1 < p->n_roles && rank >= p->roles[role + 1].first_rank) role++;
    return role;
}
static inline const PlanRole *plan_rank_role(const Plan *p, int64_t rank) {
    return &p->roles[plan_role_of(p, rank)];
}
/* Where the role's workspace begins in the allocation. */
static inline uint64_t plan_workspace_at(const PlanRole *r) {
    return align_up(r->arena_bytes, PLAN_ALIGN);
}
static inline uint32_t plan_stage_role(const Plan *p, uint32_t stage) {
    return stage % (uint32_t)p->n_roles;
}
/* The stages that programs are of; without a pipeline 1. */
static inline uint32_t plan_stages(const Plan *p) {
    uint32_t n = 1;
    for (uint64_t i = 0; i < p->n_programs; i++) n = MAX(n, p->programs[i].stage + 1u);
    return n;
}
static inline bool plan_has_stages(const Plan *p) {
    Mesh mesh = plan_mesh(p);
    return mesh_stages(&mesh) > 1;
}
/* Do the ranks of the role have the state? */
static inline bool plan_has_state(const Plan *p, const PlanState *s, uint32_t role) {
    return !s->stage || plan_stage_role(p, s->stage - 1) == role;
}
/* The first group with the same parameters; has a state of an earlier stage the same contents? */
const PlanGroup *plan_shared_group(const Plan *p, const PlanGroup *g);
bool plan_is_copy(const Plan *p, const PlanState *s);
/* Bytes from the value's address on that it may use: those of all slots. */
static inline uint64_t plan_room(const Plan *p, const PlanValue *v) {
    uint64_t bytes = (uint64_t)type_bytes(&v->type);
    if (!v->slots) return bytes;
    Mesh mesh = plan_mesh(p);
    return bytes * (uint64_t)mesh_extent(&mesh, v->slots);
}
/* Where the value is on a rank. */
static inline uint64_t plan_address(const Plan *p, const PlanValue *v, int64_t rank) {
    if (!v->slots) return v->address;
    Mesh mesh = plan_mesh(p);
    return v->address + (uint64_t)(mesh_index(&mesh, rank, v->slots) * type_bytes(&v->type));
}

/* ---- functions by file */

/* plan_read.c: validates everything that later code indexes by. bytes must be aligned to 16 and
 * outlive the plan (unless owned). Returns 0, or EXIT_CORRUPT with a message of one line that says
 * what is wrong where. For a plan of a newer format, the message names the version that it needs.
 *
 * What plan_check and every other user can rely on after a plan was read:
 * - rows named by tables, instructions and attributes exist; -1 only where a comment says "or -1";
 * - programs share out the instructions, results share out the values, in order; operands and
 *   edges stay within their program (which comes first is the checker's question);
 * - sizes and counts are at most 2^50 and positive, so address + bytes does not overflow; every
 *   value lies in its arena, aligned to its element, every state in the persistent part of one;
 * - each parameter is in one group, without overlap; all of a group are flat, or all are in chunks
 *   that fill the shard; groups and states have the sizes that the mesh and their role give them,
 *   and each group has one state for its shard; roles share out the ranks;
 * - operand and result types are such that the op's kernel stays inside them;
 * - at most PLAN_ROLES_MAX roles and PLAN_CALLS_MAX calls. */
enum { PLAN_ROLES_MAX = 4096, PLAN_CALLS_MAX = 1 << 22, PLAN_STAGES_MAX = 4096 };
int plan_read(Plan *p, const void *bytes, size_t size, char *message, size_t message_size);
/* Reads a file: also EXIT_ENVIRONMENT when it cannot be opened. */
int plan_open(Plan *p, const char *path, char *message, size_t message_size);
void plan_close(Plan *p);
/* Writes the fingerprint and the checksum of a whole plan into its header. */
void plan_seal(void *bytes, size_t size);

/* plan_text.c */
const char *plan_string(const Plan *p, PlanString s);
/* The name that --save gives the parameter; one that is stored in parts has only its key. */
const char *plan_saved_name(const Plan *p, const PlanParam *q);
/* "h.0.attn gpt2.fsd:21:9: unshard" for messages */
void plan_instr_text(const Plan *p, uint64_t instr, char *out, size_t size);
Attrs plan_node_attrs(const Plan *p, const PlanNode *n);

/* plan_rules.c, which the build generates: a hash of the sources that compiler and runtime must
 * agree on although the plan does not contain them (the op table, the attributes, the workspace
 * rules, the structs above). */
uint32_t plan_rules(void);

/* Room backend/check: the ten proofs, from the plan alone. Rules are "check-1" .. "check-10" with a
 * letter for the case. Returns 0, or EXIT_CORRUPT after filling the fault. */
int plan_check(const Plan *p, PlanFault *fault);
int plan_check_result(const Plan *p, PlanFault *fault, PlanCheckResult *result);

/* dump_advice.c: how to make the arena smaller, by what dominates its peak on that device. */
const char *plan_advice(const Plan *p, DeviceKind device, Arena *a);

#endif

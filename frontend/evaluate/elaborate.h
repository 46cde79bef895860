/* From declarations to instances, parameters and ops. Private to the frontend. */
#ifndef FSDPC_ELABORATE_H
#define FSDPC_ELABORATE_H

#include "model.h"

enum { MAX_CALL_DEPTH = 100, MAX_INSTANCES = 200000 };
/* Of a parameter and of all of them: flat groups in f32 then fit into what a plan can hold. */
#define MOST_ELEMENTS ((int64_t)1 << 45)

typedef struct Instance Instance;
typedef struct InstanceArray InstanceArray;
typedef struct ParamSlot ParamSlot;

/* A declared parameter. A tied one points at the parameter that it is. */
struct ParamSlot {
    const char *path;
    Instance *owner;
    Span span;
    Type type;
    const char *dims[MAX_RANK];
    InitKind init;
    double init_mean, init_std;
    bool no_decay, frozen, keep_f32;
    ParamSlot *same_as; /* NULL: itself */
    Span tie_span;
    int32_t row; /* of the graph's params, once registered */
};

typedef enum FieldKind {
    FIELD_PARAM,
    FIELD_MODULE,
    FIELD_ARRAY,
    FIELD_ABSENT, /* below an `if` that does not hold */
    FIELD_WRONG   /* its errors are reported; what uses it says nothing more */
} FieldKind;

typedef struct InstanceField {
    const char *name;
    FieldKind kind;
    Span span;
    ParamSlot *param;
    Instance *module;
    InstanceArray *array;
} InstanceField;

struct Instance {
    const ModuleDecl *decl;
    const char *path;
    Instance *parent;
    Span span;
    VEC(Local) arguments;
    VEC(InstanceField) fields;
    int32_t row; /* of the graph's modules */
    bool no_decay, frozen, keep_f32;
};

struct InstanceArray {
    const char *path;
    Span span;
    Instance **at;
    uint32_t n;
    int32_t row;
    bool varied; /* the arguments of an element depend on its place */
};

/* A method call that is being elaborated: for `called here` notes. */
typedef struct Frame {
    Span at;
    const char *method;
    bool prelude; /* the called method stands in the prelude */
} Frame;

/* Choices of experts, sorted: op route's results. */
typedef struct Routing {
    ValueId choices; /* what it was made of */
    ConstValue order, place, starts;
    int64_t experts;
} Routing;

/* An array of modules that is being applied to rows sorted by expert: its first module's method is
 * elaborated, each product with the weights of all. */
typedef struct Applied {
    const InstanceArray *experts; /* NULL: none */
    const Routing *routing;
} Applied;

/* What aux(..) adds: emitted after the model, with the loss. */
typedef struct AuxTerm {
    TermPart part; /* times the weight */
    Span at;
} AuxTerm;

typedef struct Elaboration {
    Model *model;
    Frontend *frontend;
    Graph *graph;
    Builder build;
    bool training;
    Instance *root;
    VEC(ParamSlot *) slots; /* in pre-order */
    VEC(Frame) frames;
    ValueId *param_value; /* by row of params: value in this program, or NO_VALUE */
    ValueId *field_value; /* by row of fields */
    ValueId step, staging;
    VEC(ValueId) of_rank; /* as long as a rank has samples: of expand */
    struct {              /* which values have samples, of the ops so far */
        VEC(bool) value;
        uint32_t program, n_ops, n_of_rank;
    } samples;
    VEC(const Routing *) routings; /* of the program */
    VEC(AuxTerm) aux;
    Applied applied;
    int64_t next_salt;
    uint32_t n_instances;
    bool broken;    /* fields of some module are wrong: what is said of paths would follow */
    bool undecided; /* .. or which ones it has: what is said of methods would follow, too */
    struct {
        Arguments arguments;
        ConstValue result;
        bool valid;
    } root_call; /* model(...) is elaborated once a program */
} Elaboration;

/* scope.c: what names are bound to; see model.h for locals. */
InstanceField *instance_field(Instance *m, const char *name);
const Node *instance_method(const Instance *m, const char *name); /* NULL if there is none */
ParamSlot *param_owner(ParamSlot *p);
/* Appends what could have been meant: fields and arguments, methods. */
void instance_names(const Scope *s, StringList *names);
void method_names(const Scope *s, StringList *names);

/* instance.c: the tree of modules. NULL after reported errors. */
Instance *instance_tree(Elaboration *e, const Node *root_class);

/* report.c: errors inside methods: the error at `at`, notes for the calls that led there. */
Diag method_error(Scope *s, DiagCode code, Span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void method_emit(Scope *s, Diag *d);
/* True after an error: this size must not decide or scale anything. */
bool refuse_rank_size(Scope *s, const Node *e, const ConstValue *v);
/* ": H = 64 (line 5), KV = 8 (line 6)": the names that stand in one of two shapes only; or "". */
const char *names_suffix(Scope *s, const char *first, const char *second);
/* Whether word stands in text, as a whole word. */
bool names_word(const char *text, const char *word);
/* The innermost place that is not in the prelude, and the number of calls up to it. */
Span user_place(const Elaboration *e, Span at, uint32_t *frame);

/* tables.c: rows of the graph for modules, parameters, names. */
void register_tables(Elaboration *e);

/* names.c: each pattern matches, each parameter has a name of its own in each table; the first
 * table's names go into the graph. */
void names_check(Elaboration *e);
/* stored.c: the table's tensors that are not whole parameters. */
void stored_make(Elaboration *e, NamesTable *t);

/* directives.c: marks the graph's parameters; reports globs that match none. */
void directives_apply(Elaboration *e);
/* The one of section train that holds for the parameter, or NULL. */
const Directive *directive_of(const Model *m, const Param *p);
/* matrices.c: marks the parameters that Muon moves. */
void matrices_choose(Elaboration *e);

/* What arguments are bound to: a module or a method. */
typedef struct Binding {
    const char *what; /* "module Linear" */
    Span declared;
    const Node *params;
    Span at; /* the call */
} Binding;

/* method.c: binds arguments by position and name to params; defaults are evaluated in `inner`.
 * false after reported errors. */
bool bind_parameters(Scope *outer, Scope *inner, const Binding *b, const Arguments *args,
                     Local **out, uint32_t *n_out);
ConstValue call_method(Scope *s, Instance *m, const Node *method, const Arguments *args, Span at);
/* Runs a block; true when it returned a value. */
bool run_block(Scope *s, const Node *block, ConstValue *result);

/* evaluate.c: is the first name of a.b.c unknown? Then a.b.c is reported when it is evaluated. */
bool owner_unknown(const Scope *s, const Node *e);

/* call.c */
ConstValue evaluate_call(Scope *s, const Node *e);
/* For a module that is called by the name of its class. */
void help_declare(Diag *d, const char *module);

/* A bound call of a function. */
typedef struct Call {
    Scope *s;
    const CallInfo *info;
    ConstValue args; /* as bind_call made it */
    Span at;
} Call;

/* emit.c: what makes ops. */
ValueId tensor_value(Scope *s, ConstValue *v, Span at); /* a parameter becomes a tensor */
ConstValue tensor_of(Elaboration *e, ValueId id, Span at);
/* Path and place of the ops that are emitted next. */
void place_builder(Scope *s, Span at);
/* Infers, reports what does not fit, emits. false after an error. */
bool emit_op(Scope *s, OpKind kind, const Attrs *attr, const char *name, Span at,
             ConstValue *operands, uint32_t n, OpId *out);
/* The same of an op whose result type is stated. */
bool emit_given(Scope *s, OpKind kind, const Attrs *attr, const char *name, Span at,
                ConstValue *operands, uint32_t n, const Type *given, OpId *out);
/* Does a value depend on a field of the batch, or on how many samples a rank has, so that its first
 * axis holds samples? */
bool has_samples(Elaboration *e, ValueId value);
/* True after an error: the op computes with samples of the batch together. */
bool refuse_mixed_samples(Scope *s, const char *name, Span at, OpId id);
/* What p, a parameter below `from`, is below `to`, another instance of its class. */
ParamSlot *param_counterpart(const Instance *from, const Instance *to, const ParamSlot *p);
/* A parameter of an array of modules that is being applied: there is one for each expert. */
bool is_expert_param(const Elaboration *e, const ConstValue *v);
ConstValue *call_operand(const Call *c, const char *name);
ConstValue call_failed(const Call *c);
ConstValue call_result(const Call *c, OpId op, uint32_t j);

/* broadcast.c: an elementwise op of tensors, parameters and numbers; `name` is for messages. */
ConstValue tensor_map(Scope *s, OpKind kind, const char *name, Span at, const ConstValue *args,
                      uint32_t n);
ConstValue tensor_power(Scope *s, Span at, const ConstValue *x, const ConstValue *n);

/* reduction.c: sum, mean, max, min, by the name of the call. axis: an integer, a list, none. */
ConstValue tensor_reduce(Scope *s, const char *name, Span at, const ConstValue *x,
                         const ConstValue *axis);

/* shapes.c: axes in another order, parts of axes, joined parts, products of matrices. */
/* x with its axes in another order: axis i is x's axis[i]. */
ConstValue tensor_transpose(Scope *s, Span at, const char *name, ConstValue x, const int *axis);
/* Entries [from, from + count) of an axis. */
ConstValue take_part(Scope *s, Span at, const char *name, ConstValue x, int axis, int64_t from,
                     int64_t count);
bool of_samples(Scope *s, const ConstValue *x); /* is its first axis that of the samples? */
/* True after an error: of operands that are combined sample by sample, some have samples, some not.
 */
bool refuse_unlike_samples(Scope *s, const char *name, Span at, const ConstValue *x, uint32_t n);
/* True after an error: a size that counts samples is not of the first axis. */
bool refuse_later_samples(Scope *s, Span at, const ConstValue *size);
/* The first axis of x has that size: if it counts samples, x is made for them. */
void note_rank_size(Scope *s, const ConstValue *size, const ConstValue *x);
ConstValue shape_misuse(Scope *s, DiagCode code, Span at, const char *help, const char *problem);
ConstValue run_transpose(const Call *c);
ConstValue run_concat(const Call *c);
ConstValue run_stack(const Call *c);
ConstValue run_split(const Call *c);
ConstValue run_expand(const Call *c);
ConstValue run_matmul(const Call *c);

/* tensor.c: operators, and other names for axes. */
ConstValue tensor_binary(Scope *s, const Node *e, ConstValue left, ConstValue right);
ConstValue tensor_negate(Scope *s, const Node *e, ConstValue v);
/* sizes: the values of the shape in `e`, as many as it has. */
ConstValue tensor_as(Scope *s, const Node *e, ConstValue v, const ConstValue *sizes);

/* index.c: x[...]. */
ConstValue tensor_index(Scope *s, const Node *e, ConstValue x);

/* attention.c */
ConstValue run_attention(const Call *c);

/* builtin.c: a call of a function of group FUNCTION. */
ConstValue builtin_call(Scope *s, const CallInfo *info, const Arguments *args, Span at);

/* experts.c: experts(rows): each row goes through the module of its expert; name: the array's. */
ConstValue call_experts(Scope *s, const ConstValue *experts, const char *name,
                        const Arguments *args, Span at);

/* routing.c: mixtures of experts. */
ConstValue run_topk(const Call *c);
ConstValue run_dispatch(const Call *c);
ConstValue run_combine(const Call *c);
/* linear(x, w) inside of such an array, w being such a parameter. */
ConstValue experts_linear(const Call *c);

/* terms.c: numbers of the whole batch, and aux. */
ConstValue run_load_balance(const Call *c);
ConstValue run_aux(const Call *c);
/* The sum or mean, by name, of all elements of x, which has samples. */
ConstValue term_of_samples(Scope *s, const char *name, Span at, const ConstValue *x);
ConstValue term_negate(Scope *s, const Node *e, const ConstValue *v);
ConstValue term_binary(Scope *s, const Node *e, const ConstValue *l, const ConstValue *r);
/* The terms of aux are added to the loss, whose counted operand is given. */
void add_aux_terms(Elaboration *e, ValueId *loss, ValueId counted, int64_t ignore);

/* batch.c: the data sources into settings, and the fields of a batch into the graph. */
bool declare_fields(Elaboration *e);
/* ids.c: whether the model takes the ids that data.train and data.val write by themselves; after
 * the programs. */
bool check_own_ids(Elaboration *e);
/* npy.c: dtype and shape of a NumPy file from its header; NULL, or what is wrong with it. */
const char *npy_header(const char *path, Type *out, Arena *a, bool *missing);

#endif

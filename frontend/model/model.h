/* What a model file declares, and what is known about it while it becomes a graph:
 *
 *   Model        the declarations of all files: config, sections, modules, names tables
 *   ExprValue    the value of an expression (value.h)
 *   Scope        what the names in an expression are bound to
 *   Instance     a module that exists: its arguments, parameters and submodules
 *   Elaboration  the graph that is being made, its instances, and the calls that led here
 *
 * In: rows that other rooms read from files. Out: lookups, checks of arguments against the
 * vocabulary, and errors that name the place in the user's file. Nothing here evaluates an
 * expression or emits an op.
 */
#ifndef FSDPC_MODEL_H
#define FSDPC_MODEL_H

#include "run_settings.h"
#include "value.h"

/* ---- what files declare ---- */

typedef struct ConfigEntry {
    const char *name, *doc, *from;
    const Node *expression;
    Span span;   /* of the name where its value is set */
    bool blamed; /* an error named it as the cause, which is reported once */
    enum { CONFIG_PENDING, CONFIG_BUSY, CONFIG_DONE } state;
    ExprValue value;
} ConfigEntry;

typedef struct ModuleDecl {
    const char *name;
    const Node *node;
    bool prelude;
    bool wrong; /* its mistakes are reported, once */
} ModuleDecl;

/* One key of one section; the list has a row for every key of the vocabulary. */
typedef struct KeyValue {
    const KeyInfo *key;
    const Node *expression; /* NULL: the default */
    Span span;              /* of the key, or no place */
    const char *from;
    bool misspelt;  /* a key with nearly this name was given, so this one is not missing */
    uint32_t order; /* the later of two settings has the larger number; 0 = default */
    ExprValue value;
} KeyValue;

/* One line of a names table: what parameters of this path are called in a file of weights. */
typedef struct NamesRule {
    const char *pattern, *replacement;
    const Node *parts; /* in place of the replacement, read by stored.c; or NULL */
    bool transposed;
    Span span;
    bool matched, wrong; /* wrong: an error of its parts is reported */
} NamesRule;

/* `names LABEL { }`: one way to name the parameters in a file. */
typedef struct NamesTable {
    Span span;
    VEC(NamesRule) rules;
    FileNames file; /* what plans have of it */
} NamesTable;

typedef struct Requirement {
    const Node *condition;
    const char *message;
} Requirement;

typedef struct SourceUnit {
    const Node *root;
    uint32_t file;
    const char *path; /* for `use` */
    bool prelude;
} SourceUnit;

/* `"path.glob" = value` of section train or shard. */
typedef struct Directive {
    const char *section, *glob;
    Span span; /* of the glob */
    const Node *expression;
    bool of_parameters; /* not of modules, which pass wrap finds */
    int gather;         /* dtype, of gather(..) */
    bool frozen, replicate,
        whole;  /* what it does to parameters, unless it gives a group's numbers */
    bool split; /* it is split(..), along that axis */
    int64_t axis;
    bool matched, wrong; /* wrong: its value is an error */
    bool own_lr;         /* of a group: it has one */
    enum { MUON_AS_USUAL, MUON_NO, MUON_YES } muon;
    double lr_factor, weight_decay; /* of a group: lr as a fraction of the optimizer's */
} Directive;

/* A key of a file of another system, and what became of it. */
typedef struct ImportEntry {
    const char *key, *text;
    Span span;
    const char *became; /* settings, or the reason why it has no effect */
    bool idle;          /* it has no effect */
} ImportEntry;
typedef struct ImportedFile {
    const char *path;
    VEC(ImportEntry) entries;
} ImportedFile;

/* The samples of a rank and micro-batch, as in DeepSpeed: train.batch or train.accumulate is
 * derived from it, or all three must agree. */
typedef struct MicroBatch {
    int64_t samples;                  /* 0: not given */
    bool with_batch, with_accumulate; /* the file gives these too */
    const char *key, *from;
    Span span;
} MicroBatch;

enum { MAX_EVALUATION_DEPTH = 500 };

/* The default of an argument, evaluated. */
typedef struct Default {
    const struct ArgumentInfo *row;
    ExprValue value;
} Default;

typedef struct Model {
    DiagSet *ds;
    Arena *arena;
    const CompileOptions *options;
    VEC(SourceUnit) units;
    VEC(ConfigEntry) config;
    VEC(ModuleDecl) modules;
    VEC(KeyValue) settings;
    VEC(NamesTable) names; /* those of the main file first; [0] is what is saved */
    VEC(Requirement) requirements;
    VEC(Directive) directives;
    VEC(ImportedFile) imports;
    MicroBatch micro_batch;
    const Node *hf_config;  /* the section `config hf`, or NULL */
    const Node *root_class; /* right side of `model =` */
    uint32_t main_file, next_order;
    Policy policy;
    double adamw_lr_factor; /* Muon: lr of the parameters that AdamW updates, as a fraction of lr */
    uint32_t depth;         /* of nested evaluations */
    VEC(Default) defaults;
} Model;

/* ---- scopes and arguments ---- */

typedef struct Elaboration Elaboration;
typedef struct Instance Instance;
typedef struct InstanceArray InstanceArray;
typedef struct ParamSlot ParamSlot;
typedef struct ExpertRouting ExpertRouting;

/* A name that a method, a module or the batch binds. */
typedef struct Local {
    const char *name;
    ExprValue value;
} Local;

typedef struct Scope {
    Model *model;
    Elaboration *elaboration; /* NULL: constants only */
    Instance *self;           /* NULL outside modules */
    const KeyInfo *key;       /* the section key whose value this is, or NULL */
    VEC(Local) locals;
    const char *path; /* module path of ops made here */
} Scope;

/* An evaluated argument list. */
typedef struct Argument {
    const char *name; /* NULL: by position */
    ExprValue value;
    const Node *node;
} Argument;
typedef struct Arguments {
    VEC(Argument) at;
} Arguments;

/* ---- modules that exist, and the graph that is being made of them ---- */

enum { MAX_CALL_DEPTH = 100, MAX_INSTANCES = 200000 };
/* Of one parameter and of all together, so that flat groups in f32 fit into a plan. */
#define MOST_ELEMENTS ((int64_t)1 << 45)

/* A declared parameter. A tied one points at the parameter that it stands for. */
struct ParamSlot {
    const char *path;
    Instance *owner;
    Span span;
    Type type;
    const char *dims[MAX_RANK];
    InitKind init;
    double init_mean, init_std;
    uint32_t attributes; /* one bit for each row of attributes.def */
    ParamSlot *same_as;  /* NULL: itself */
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
    int32_t row;         /* of the graph's modules */
    uint32_t attributes; /* one bit for each row of attributes.def */
};

struct InstanceArray {
    const char *path;
    Span span;
    Instance **at;
    uint32_t n;
    int32_t row;
    bool varied; /* the arguments of an element depend on its index */
};

/* A method call that is being elaborated: for `called here` notes. */
typedef struct Frame {
    Span at;
    const char *method;
    bool prelude; /* the called method stands in the prelude */
} Frame;

/* Choices of experts, sorted: op route's results. */
struct ExpertRouting {
    ValueId choices; /* what they were sorted by */
    ExprValue order, place, starts;
    int64_t experts;
};

/* An array of modules that is being applied to rows sorted by expert: the method of its first
 * module is elaborated, and each product uses the weights of all. */
typedef struct Applied {
    const InstanceArray *experts; /* NULL: none */
    const ExpertRouting *routing;
} Applied;

/* What aux(..) and further terms of train.loss add: emitted after the model, with the loss. */
typedef struct AuxTerm {
    TermPart part; /* times the weight */
    Span at;
    bool told;            /* it is a term of train.loss, which the log has */
    bool of_step;         /* what it is divided by may differ between micro-batches or batches */
    ValueId step_weights; /* the weights in all of them, if it has weights */
} AuxTerm;

struct Elaboration {
    Model *model;
    RunSettings *settings;
    Arena *kept; /* for the settings: model->arena ends with the elaboration */
    Graph *graph;
    Builder build;
    bool training;
    Instance *root;
    VEC(ParamSlot *) slots; /* in pre-order */
    VEC(Frame) frames;
    ValueId *param_value; /* by row of params: value in this program, or NO_VALUE */
    ValueId *field_value; /* by row of fields */
    ValueId step, staging;
    VEC(ValueId) per_sample; /* values that expand gave one entry per sample of the rank */
    struct {                 /* which values of the ops so far have samples */
        VEC(bool) value;
        uint32_t program, n_ops, n_per_sample;
    } samples;
    VEC(const ExpertRouting *) routings; /* of the program */
    VEC(AuxTerm) aux;
    Applied applied;
    int64_t next_salt;
    VEC(const Node *) warned; /* nodes with a warning: a method that runs again repeats none */
    uint32_t n_instances;
    bool broken;    /* fields of some module are wrong: errors about paths would be consequences */
    bool undecided; /* .. or their number is unknown: errors about methods would be consequences,
                       too */
    struct {
        Arguments arguments;
        ExprValue result;
        bool valid;
    } root_call; /* model(..) is elaborated once per program */
};

/* model.c: lookups, changes, and errors about a model. */
/* A copy that can be changed and evaluated without changing this one, which has not been. */
Model *model_copy(const Model *m, Arena *a);
ConfigEntry *model_config(Model *m, const char *name); /* NULL if there is none */
ModuleDecl *model_module(Model *m, const char *name);
KeyValue *model_setting(Model *m, const char *section, const char *key);
/* Sets a key; may_replace: over what the same file set before, as -s does. `from`: where the dump
 * says it is from. */
void model_set_key(Model *m, const char *section, const char *key, Span at, const Node *value,
                   const char *from, bool may_replace);
void config_names(const Model *m, StringList *names); /* appends them */
/* Whether the file has `model = Name`; false after an error. */
bool model_has_root(Model *m);
const char *model_place(Model *m, Span at); /* "gpt2.fsd:12" */
void duplicate_error(Model *m, const char *what, const char *name, Span at, Span before);
Diag unsupported_error(Model *m, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Help: the nearest name, or the first ones; NULL if there are none. */
const char *known_names(Arena *a, const char *word, const char *const *names, size_t n);
void suggest_nearest(Diag *d, const char *word, const char *const *names, size_t n);
/* "supported: sgd, adam": together with unsupported_error. */
void suggest_supported(Diag *d, const char *const *names, size_t n);
/* Always false. */
bool setting_error(Model *m, const KeyValue *s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Warns about a setting that was given and changes nothing. */
void warn_idle(Model *m, const char *section, const char *key, const char *why);
/* The factor of the optimizer's lr, above 0, for parameters with an lr of their own. */
double own_lr_factor(Model *m, const ExprValue *own, double lr);

/* model.c: what names are bound to. */
void scope_bind(Scope *s, const char *name, ExprValue v);
const Local *scope_local(const Scope *s, const char *name);
/* Whether a local, field, module argument or config name has this name. */
bool scope_knows(const Scope *s, const char *name);
const ExprValue *instance_argument(const Instance *m, const char *name);
InstanceField *instance_field(Instance *m, const char *name);
const Node *instance_method(const Instance *m, const char *name); /* NULL if there is none */
ParamSlot *param_owner(ParamSlot *p);
/* Append names for "did you mean": fields and arguments; methods. */
void instance_names(const Scope *s, StringList *names);
void method_names(const Scope *s, StringList *names);

/* report.c: errors inside methods: the error at `at`, notes for the calls that led there. */
Diag method_error(Scope *s, DiagCode code, Span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool method_emit(Scope *s, Diag *d); /* always false */
/* Both, with help, which is not a format string (NULL: none); always false. */
bool method_report(Scope *s, DiagCode code, Span at, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same; returns the value of an expression that is wrong. */
ExprValue method_fail(Scope *s, DiagCode code, Span at, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* True after an error: this size must not decide or scale anything. */
bool refuse_rank_size(Scope *s, const Node *e, const ExprValue *v);
/* ": H = 64 (line 5), KV = 8 (line 6)": names that appear in only one of the two shapes; or "". */
const char *sizes_suffix(Scope *s, const char *first, const char *second);
/* Whether word stands in text, as a whole word. */
bool has_word(const char *text, const char *word);
/* Is this the first warning about the node? */
bool warns_first(Elaboration *e, const Node *at);
/* The innermost place that is not in the prelude, and the number of calls up to it. */
Span user_place(const Elaboration *e, Span at, uint32_t *frame);

/* arguments.c: arguments against the rows of a callee; false after reported errors. */
bool bind_call(Scope *s, const CallInfo *callee, const Arguments *args, Span at, ExprValue *out);
/* what: "eps of `rms_norm`". Integral reals become integers where an integer is needed. */
bool check_value(Scope *s, ExprValue *v, const ValueType *t, const char *what);
/* An argument of a call that bind_call made; never NULL for names of the table. */
const ExprValue *call_argument(const ExprValue *call, const char *name);

/* lint.c: warnings about the methods of the user's modules. */
void model_lint(Model *m);

#endif

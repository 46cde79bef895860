/* The parsed model with its config and sections, and what evaluates expressions. Private to the
 * frontend. */
#ifndef FSDPC_MODEL_H
#define FSDPC_MODEL_H

#include "frontend.h"
#include "value.h"
#include "vocabulary.h"

typedef struct ConfigEntry {
    const char *name, *doc, *from;
    const Node *expression;
    Span span;   /* of the name where its value is set */
    bool blamed; /* an error named it as the cause: it is not said again */
    enum { CONFIG_PENDING, CONFIG_BUSY, CONFIG_DONE } state;
    ConstValue value;
} ConfigEntry;

typedef struct ModuleDecl {
    const char *name;
    const Node *node;
    bool prelude;
    bool wrong; /* its mistakes are reported, once */
} ModuleDecl;

/* One key of one section; the list has a row for every key of the vocabulary. */
typedef struct Setting {
    const KeyInfo *key;
    const Node *expression; /* NULL: the default */
    Span span;              /* of the key, or no place */
    const char *from;
    bool misspelt;  /* a key of nearly this name was given: it is not missing */
    uint32_t order; /* the later of two settings has the larger number; 0 = default */
    ConstValue value;
} Setting;

/* One line of a names table: what parameters of this path are called in a file of weights. */
typedef struct NamesRule {
    const char *pattern, *replacement;
    const Node *parts; /* in the place of the replacement: stored.c reads it; else NULL */
    bool transposed;
    Span span;
    bool matched, wrong; /* wrong: an error of its parts is reported */
} NamesRule;

/* `names LABEL { }`: one way to name the parameters in a file. */
typedef struct NamesTable {
    const char *label; /* "" = none */
    Span span;
    VEC(NamesRule) rules;
    StringList skips; /* patterns of tensors that are known and not loaded */
    VEC(StoredTensor) stored;
    VEC(StoredPart) parts; /* of these, in their order */
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
    bool of_parameters;     /* not of modules, which pass wrap finds */
    int gather;             /* dtype, of gather(..) */
    bool frozen, replicate; /* what it says of parameters, or numbers of a group */
    bool split;             /* it is split(..), along that axis */
    int64_t axis;
    bool matched, wrong; /* wrong: its value is an error */
    bool own_lr;         /* of a group: it has one */
    enum { MUON_AS_USUAL, MUON_NO, MUON_YES } muon;
    double lr_factor, weight_decay; /* of a group: lr as a share of the optimizer's */
} Directive;

/* A key of a file of another system, and what became of it. */
typedef struct ImportEntry {
    const char *key, *text;
    Span span;
    const char *became; /* settings, or the reason why it means nothing here */
    bool idle;          /* it means nothing */
} ImportEntry;
typedef struct Import {
    ImportFormat format;
    const char *path;
    VEC(ImportEntry) entries;
} Import;

/* The samples of a rank and micro-batch, as DeepSpeed has them: train.batch or train.accumulate
 * follows, or all three agree. */
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
    ConstValue value;
} Default;

typedef struct Model {
    DiagSet *ds;
    Arena *arena;
    const CompileOptions *options;
    VEC(SourceUnit) units;
    VEC(ConfigEntry) config;
    VEC(ModuleDecl) modules;
    VEC(Setting) settings;
    VEC(NamesTable) names; /* those of the main file first; [0] is what is saved */
    VEC(Requirement) requirements;
    VEC(Directive) directives;
    VEC(Import) imports;
    MicroBatch micro_batch;
    const Node *hf_config;  /* the section `config hf`, or NULL */
    const Node *root_class; /* right side of `model =` */
    uint32_t main_file, next_order;
    Policy policy;
    double adamw_lr_factor; /* Muon: lr of what AdamW moves, as a share of lr */
    uint32_t depth;         /* of nested evaluations */
    VEC(Default) defaults;
} Model;

/* lint.c: warnings about the methods of the user's modules. */
void model_lint(Model *m);

/* A name that a method, a module or the batch binds. */
typedef struct Local {
    const char *name;
    ConstValue value;
} Local;

struct Elaboration;

typedef struct Scope {
    Model *model;
    struct Elaboration *elaboration; /* NULL: constants only */
    struct Instance *self;           /* NULL outside modules */
    const KeyInfo *key;              /* the section key whose value this is, or NULL */
    VEC(Local) locals;
    const char *path; /* module path of ops made here */
    uint32_t call_depth;
} Scope;

/* An evaluated argument list. */
typedef struct Argument {
    const char *name; /* NULL: by position */
    ConstValue value;
    const Node *node;
} Argument;
typedef struct Arguments {
    VEC(Argument) at;
} Arguments;

/* model_file.c: reads the file (or takes its text, NUL-terminated, where that is not NULL), what it
 * uses, and the prelude, and collects their declarations. false when a file could not be read or
 * parsed; other errors are only counted. */
bool model_read(Model *m, const char *path, const char *text, size_t n);

/* model_file.c: what -s sets, over what was set before. */
void model_apply_options(Model *m);

/* Sets a key as -s does, over what was set before; `from`: where the dump says it is from. */
void model_set_key(Model *m, const char *section, const char *key, Span at, const Node *value,
                   const char *from);

/* import.c: settings from the files of other systems that the options name. */
void import_all(Model *m);

/* model.c: lookups, and errors about a model. */
ConfigEntry *model_config(Model *m, const char *name); /* NULL if there is none */
ModuleDecl *model_module(Model *m, const char *name);
Setting *model_setting(Model *m, const char *section, const char *key);
void config_names(const Model *m, StringList *names); /* appends them */
/* Whether the file has `model = Name`; false after an error. */
bool model_has_root(Model *m);
const char *model_place(Model *m, Span at); /* "gpt2.fsd:12" */
void model_duplicate(Model *m, const char *what, const char *name, Span at, Span before);
Diag model_lacks(Model *m, Span at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void help_nearest(Diag *d, const char *word, const char *const *names, size_t n);
/* "this version has sgd, adam": beside model_lacks. */
void help_available(Diag *d, const char *const *names, size_t n);
void setting_error(Model *m, const Setting *s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A setting that was given and changes nothing beside the others. */
void warn_idle(Model *m, const char *section, const char *key, const char *why);
/* By what the optimizer's lr, above 0, is multiplied for parameters with one of their own. */
double own_lr_factor(Model *m, const ConstValue *own, double lr);

/* hf_config.c: `config hf`, and the text of config.json that comes of it ("" without one). */
void hf_config_add(Model *m, const Node *section);
const char *hf_config_text(Model *m);

/* names.c: reads a `names` section. */
void names_add(Model *m, const Node *section);
/* names_rules.c */
NamesRule *names_rule(const NamesTable *t, const char *path); /* that names the path, or NULL */
int names_stars(const char *pattern);
/* The name with what its `*` stand for, from captures[*used] on, of n; NULL where it has more. */
const char *names_filled(Arena *a, const char *name, const char *const *captures, int n, int *used);
/* stored.c: is it a part of a tensor, or several tensors? */
bool stored_is_entry(const Node *value);

/* directives.c: what sections train and shard say of single paths, the strongest first: those of a
 * file stand before what was added before them, in place of what they contradict there. */
void directives_add(Model *m, const char *section, const Node *entry);
void directives_resolve(Model *m, Policy *p, const Settings *s);

/* settings.c: values of all keys of all sections, checked against the vocabulary. */
void settings_evaluate(Model *m);

/* policy.c: settings into the graph's policy and the plan's settings, with the rules between keys.
 */
void policy_resolve(Model *m, Policy *p, Settings *s);
/* What `"glob" = reshard(after)` says of a unit; a K cuts the mesh, if shard.reshard has not. */
UnitReshard policy_reshard(Model *m, Policy *p, Span at, const ConstValue *after);
/* offload.c */
void resolve_offload(Model *m, Policy *p, Settings *s);

/* precision.c: train.precision, train.loss_scale, shard.scale and shard.gather; after mesh,
 * strategy and batch. */
void precision_resolve(Model *m, Policy *p, const Settings *s);
/* The exponent of backward's seed: near 1 / targets of a step; under a loss scale near 1 / targets
 * of a rank, divided besides by what sums of f16 are divided by before they are formed. */
int64_t precision_seed(const Policy *p, double targets, int64_t ranks);

/* scope.c */
void scope_bind(Scope *s, const char *name, ConstValue v);
const Local *scope_local(const Scope *s, const char *name);

/* arguments.c: arguments against the rows of a callee; false after reported errors. */
bool bind_call(Scope *s, const CallInfo *callee, const Arguments *args, Span at, ConstValue *out);
/* what: "eps of `rms_norm`". Integral reals become integers where an integer is asked for. */
bool check_value(Scope *s, ConstValue *v, const ValueType *t, const char *what);
/* An argument of a call that bind_call made; never NULL for the callee's own names. */
const ConstValue *call_argument(const ConstValue *call, const char *name);

/* evaluate.c */
ConstValue config_value(Model *m, ConfigEntry *c);
ConstValue evaluate(Scope *s, const Node *e);
bool evaluate_truth(Scope *s, const Node *e, bool *out); /* false after an error */
/* callee: whose words its arguments may be, or NULL. */
Arguments evaluate_arguments(Scope *s, const Node *args, const CallInfo *callee);
/* Whether a local, field, module argument or config name has this name. */
bool scope_knows(const Scope *s, const char *name);

#endif

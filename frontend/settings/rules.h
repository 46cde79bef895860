/* What the files of room settings share: reading one setting, and the parts of policy_resolve.
 * Private to the room. */
#ifndef FSDPC_RULES_H
#define FSDPC_RULES_H

#include "settings.h"

/* settings.c */
const ExprValue *setting_value(Model *m, const char *section, const char *key);
bool setting_is_given(Model *m, const char *section, const char *key);
int64_t setting_integer(Model *m, const char *section,
                        const char *key); /* 0 where it is not an integer */
double setting_number(Model *m, const char *section, const char *key);
/* A number of steps or samples; an error if a plan cannot hold it. */
int64_t setting_count(Model *m, const char *section, const char *key);
/* The enum value that a word or call names; 0 if the setting was already refused. */
int enum_of(const ExprValue *v, const Words *words);
bool value_is_word(const ExprValue *v, const char *word);
const char *strategy_text(Model *m, const Policy *p); /* "strategy = none", for warn_idle */

/* mesh.c */
void resolve_mesh(Model *m, Policy *p);
void resolve_reshard(Model *m, Policy *p);

/* units.c */
void resolve_unit(Model *m, Policy *p);
void resolve_recompute(Model *m, Policy *p);

/* batch_size.c */
void resolve_batch(Model *m, Policy *p, RunSettings *s);

/* train.c */
void resolve_train(Model *m, Policy *p, RunSettings *s);

/* shard.c */
void resolve_shard(Model *m, Policy *p);
void resolve_hold(Model *m, Policy *p); /* after the number of micro-batches is known */

/* offload.c */
void resolve_pipeline(Model *m, Policy *p); /* after micro-batches and offload */
void resolve_offload(Model *m, Policy *p, RunSettings *s);

/* idle.c */
void warn_idle_settings(Model *m, const Policy *p, const RunSettings *s);
void warn_unusual_settings(Model *m, const RunSettings *s);

/* precision.c: train.precision, train.loss_scale, shard.scale and shard.gather; after mesh,
 * strategy and batch. */
void precision_resolve(Model *m, Policy *p, const RunSettings *s);

/* directives.c: the directive of section train that holds for the parameter, or NULL. */
const Directive *directive_of(const Model *m, const Param *p);

/* npy.c: dtype and shape of a NumPy file from its header; NULL, or what is wrong with it. */
const char *npy_header(const char *path, Type *out, Arena *a, bool *missing);

#endif

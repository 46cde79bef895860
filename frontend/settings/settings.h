/* From the sections of a model file to the policy that passes read and the settings of the run.
 *
 * In: the keys of sections data, train, shard, checkpoint and config, and the settings of single
 * paths in sections train and shard. Out: Policy, RunSettings, the fields of a batch and the marks
 * of parameters in the graph. The rules between keys (ranks and mesh, batch and ranks, prefetch and
 * inflight) are checked here; the value of each key is checked against the vocabulary.
 */
#ifndef FSDPC_SETTINGS_H
#define FSDPC_SETTINGS_H

#include "model.h"

/* settings.c: values of all keys of all sections, checked against the vocabulary. */
void settings_evaluate(Model *m);

/* policy.c: settings into the graph's policy and the plan's settings, with the rules between
 * keys.
 */
void policy_resolve(Model *m, Policy *p, RunSettings *s);

/* directives.c */
/* Adds a setting of a path from section train or shard, the strongest first: the directives of a
 * file come before those added earlier, and replace those that they contradict. */
void directives_add(Model *m, const char *section, const Node *entry);
void directives_resolve(Model *m, Policy *p, const RunSettings *s);
/* Marks the graph's parameters; reports globs that match none. */
void directives_apply(Elaboration *e);

/* hf_config.c: `config hf`, and what it gives ("" without one): the text of config.json, and facts
 * by which a folder's config.json is compared. */
void hf_config_add(Model *m, const Node *section);
void hf_config_texts(Model *m, const char **text, const char **facts);
bool hf_entry_skips(const Node *e); /* `key = skip` */
/* Whether null in a config.json is a value of its own, not the value after `else`: the entry is a
 * name that the model compares with none, or passes on as an argument that may be none. */
bool hf_entry_nullable(const Model *m, const Node *e);

/* batch.c: the data sources into settings, and the fields of a batch into the graph. */
bool declare_fields(Elaboration *e);

/* batch.c: whether the model can take the ids that data.train and data.val write
 * themselves; after the programs are built. */
bool check_denoising_ids(Elaboration *e);

/* muon_params.c: marks the parameters that Muon updates. */
void choose_muon_params(Elaboration *e);

/* precision.c: the exponent of backward's seed: near 1 / (targets of a step); under a loss scale
 * near 1 / (targets of a rank), divided by the divisor of f16 sums. */
int64_t precision_seed(const Policy *p, double targets, int64_t ranks);

#endif

/* Families of models on the hub: from the config.json of a Hugging Face folder to a model file.
 *
 * In: the entries of a config.json. Out: the text of a model file that computes what Transformers
 * computes from that folder. Each family is a model file of models/hf, part of this program, named
 * by its `model_type`; its section `config hf` says which key of config.json is which name of its
 * `config`. Keys that neither the section nor hf_keys.def knows are refused by name.
 */
#ifndef FSDPC_FAMILIES_H
#define FSDPC_FAMILIES_H

#include "diag.h"
#include "hf_config.h"

/* The model file for this config.json; NULL after reported errors. tokens: the files of tokens that
 * it reads; NULL: synthetic ones. *name: of its family. */
const char *family_import(DiagSet *ds, const HfConfig *c, const char *tokens, const char **name);

#endif

/* Settings from the configuration files of other systems.
 *
 * In: the files that options name (--accelerate, --deepspeed). Out: settings of the model, and what
 * became of each key. imports.def has a row for each key: what it becomes, why it has no effect, or
 * why it is refused.
 */
#ifndef FSDPC_IMPORT_H
#define FSDPC_IMPORT_H

#include "model.h"

/* import.c */
void import_all(Model *m);

#endif

/* The model files of models/hf as texts in this program. */
#include "families.h"

const Family family_table[] = {
#include "families.inc"
};
const int n_families = ARRAY_LEN(family_table);

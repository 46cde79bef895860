/* The prelude: modules in the language itself that every model file has. */
#ifndef FSDPC_PRELUDE_H
#define FSDPC_PRELUDE_H

#include <stddef.h>

extern const char prelude_text[]; /* NUL-terminated */
extern const size_t prelude_size;

#endif

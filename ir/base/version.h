/* What both programs print for --version. Nothing of it enters a plan. */
#ifndef FSDPC_VERSION_H
#define FSDPC_VERSION_H

#include "util.h"

/* Appends lines: program with number, the commit that was built, libraries. `more`: further
 * libraries of this program, or "". */
void version_lines(Buf *out, const char *program, const char *more);

#endif

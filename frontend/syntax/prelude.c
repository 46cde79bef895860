/* The prelude, models/std.fsd, as text in this program. */
#include "syntax.h"

const char prelude_text[] =
#include "prelude.inc"
    ;
const size_t prelude_size = sizeof prelude_text - 1;

/* The commit comes from the build, which asks git; the libraries say their own versions, those that
 * are loaded now, not those that were there at the build. */
#include <gnu/libc-version.h>
#include <jansson.h>
#include <xxhash.h>

#include "version.h"

extern const char built_commit[];

void version_lines(Buf *out, const char *program, const char *more) {
    unsigned hash = XXH_versionNumber();
    buf_printf(out, "%s\ncommit %s\nlibraries: jansson %s, xxHash %u.%u.%u, glibc %s%s\n", program,
               built_commit, jansson_version_str(), hash / 10000, hash / 100 % 100, hash % 100,
               gnu_get_libc_version(), more);
}

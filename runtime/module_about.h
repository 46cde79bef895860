/* What a module says of itself to `fsdp-run --version`: the libraries that it uses, with the
 * versions that are loaded, and what it would choose on this machine. A module may do without.
 */
#ifndef FSDPC_MODULE_ABOUT_H
#define FSDPC_MODULE_ABOUT_H

#include <stddef.h>

/* Writes a text of one line. */
#define ABOUT_ENTRY "fsdp_about"
typedef void (*AboutEntry)(char *out, size_t size);

/* Begins the definition of a module's. */
#define MODULE_ABOUT(out, size)                                                                    \
    __attribute__((visibility("default"))) void fsdp_about(char *(out), size_t(size));             \
    void fsdp_about(char *(out), size_t(size))

#endif

/* Files that come with the programs: modules, models, machine files. They are found from the place
 * of the program that runs: in the build folder of a source tree, or below a prefix with bin,
 * lib/fsdpc and share/fsdpc (packaging/README.md). And folders that a program has for a while.
 */
#ifndef FSDPC_PROGRAM_FILES_H
#define FSDPC_PROGRAM_FILES_H

#include "util.h"

/* Writes the path of `name` in `folder`, which is relative to the program's. False if there is no
 * such file that can be read. */
bool program_file(const char *folder, const char *name, char *out, size_t size);

/* `path`, or, if it begins with models/ or machines/ and does not exist, the file of that name that
 * came with the program, if there is one. */
const char *shared_file(Arena *a, const char *path);

/* Makes a folder below TMPDIR, or /tmp, whose name begins with `name`; ends the program with
 * EXIT_ENVIRONMENT if that fails. */
const char *temporary_folder(Arena *a, const char *name);
/* Removes it and the files in it; none of them may be a folder. */
void temporary_folder_remove(const char *path);

#endif

/* Shared by the commands of fsdpc that read and write checkpoints. */
#ifndef FSDPC_DRIVER_FILES_H
#define FSDPC_DRIVER_FILES_H

#include "checkpoint.h"
#include "driver.h"

/* Blocks of 8 MiB that are kept because files are read in another order than they were written;
 * with everything else, less than 256 MiB. */
enum { RESHARD_BLOCKS = 20, CONVERT_BLOCKS = 10 };

/* driver_checkpoint.c */
extern volatile int driver_stop; /* set by a signal: stop without a result */
void driver_catch_signals(void);
/* Reports the error of a function of checkpoint.h or tensors.h and returns its exit code;
 * EXIT_ENVIRONMENT ends the program. */
int driver_fault(Driver *d, int code, DiagCode corrupt, char *error);
bool driver_is_folder(const char *path);
int driver_open_checkpoint(Driver *d, const char *path, Checkpoint **out);
/* Reads a plan, or compiles a model file (.fsd) with the options that `compile` takes. */
int driver_open_plan(Driver *d, const char *file, Plan *plan);
int driver_check_target(Driver *d, const char *output);
void driver_say_written(Driver *d, const CkContents *c, const char *folder);
int driver_check_checkpoint(Driver *d, const char *path);

#endif

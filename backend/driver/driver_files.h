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

/* convert_out.c: writes the checkpoint's weights in the given form. named: the contents with the
 * names under which to save them. */
int convert_out(Checkpoint *from, const CkContents *named, const SaveForm *form, char *error);
/* convert_in.c: makes a checkpoint of the plan in `folder` from weights; *out describes it. If they
 * do not match the plan's model, `report` says why and `error` stays empty. */
int convert_in(const Plan *plan, const TensorSet *set, const char *folder, CkContents *out,
               Arena *a, Buf *report, char *error);

#endif

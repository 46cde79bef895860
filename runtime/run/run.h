/* fsdp-run itself: from the command line to the last line of the summary.
 *
 *   main      what happens in which order
 *   plan, transports, inputs, hf_folder, checkpoints, capacity
 *             one question each of a run that is about to start; they print what is wrong
 *   signals   Ctrl-C and what schedulers send
 *   ranks     a thread for each rank of this process, and their end
 *   rank_open what a rank has, opened and closed
 *   trial     a process of its own for what may harm one
 *   trainer   what a rank does: weights, then step calls and evaluations, then the save
 *   loader    a thread per rank that reads the next batch while a call runs
 *   predict   --predict
 *   generate  --generate and --prompts, in four files
 *   self_test --self-test
 *
 * Functions of main.c's sequence return 0 or an exit code of util.h after printing the message;
 * those of a rank leave it in the rank. May include: all rooms of the runtime.
 */
#ifndef FSDPC_RUN_H
#define FSDPC_RUN_H

#include "execute.h"

/* signals.c */
/* Blocks SIGUSR1, which a launcher passes to ranks whether they have a handler yet or not. */
void signals_hold_notice(void);
void signals_catch(Run *run);

/* plan.c */
int plan_open_proved(Run *run, Plan *p);
int plan_check_ranks(const Run *run);

/* transports.c: hosts, device and transport, as they go together. */
int hosts_open(Run *run);
int device_choose(Run *run);
int transport_open(Run *run);

/* inputs.c: data and weights, and the steps that the data allows. */
int inputs_open_data(Run *run);
int inputs_open_weights(Run *run, TensorSet *set);
void inputs_close(Run *run, TensorSet *set);

/* hf_folder.c: config.json and tokenizer of the folder of --load. */
int hf_folder_check(Run *run);

/* checkpoints.c */
/* What the command line says, else what the model does. */
CheckpointOptions checkpoint_options(const Run *run);
int checkpoints_open(Run *run);

/* capacity.c: does the run fit the device, this machine and its threads? */
int capacity_of_device(const Run *run, char *error);
int capacity_check_device(const Run *run);
int capacity_check_host(const Run *run);
int capacity_check_stacks(char *error);
void capacity_count_threads(Run *run);

/* ranks.c: prints why the run ended. */
void ranks_number(Run *run); /* allocates those of this process, and says which they are */
int ranks_open(Run *run);
int ranks_run(Run *run);
void ranks_close(Run *run);

/* rank_open.c: a rank's parts, down to its executor and loader; all that it opened is closed. */
DeviceOptions rank_device_options(const Rank *r);
int rank_open(Rank *r);
void rank_close(Rank *r);

/* trial.c */
/* Has what may harm a process tried by others, which argv starts. */
void trial_run(Run *run, char **argv);
bool trial_is_wanted(Run *run); /* of this process; fills run->trial */
int trial_here(Run *run);

/* trainer.c: the whole life of a rank; r->error says why it ended early. */
int trainer_run(Rank *r);

/* loader.c */
uint64_t slot_bytes(const Plan *p); /* of a staging slot, in which all fields are (plan_read.c) */
int loader_open(Rank *r, Loader **out);
void loader_close(Loader *l);
void loader_request(Loader *l, const ProgramCall *c);
/* The number in its source of a sample of the call. */
int64_t loader_sample(const Run *run, const ProgramCall *c, int64_t row);
/* The batch of the call requested last; or the exit code with the message. */
int loader_wait(Loader *l, const void **bytes, char *error);

/* prompts.c */
/* Opens the tokenizer and reads the prompts; can the plan do it, and are they right? */
int generate_check(Run *run, char *error);
uint64_t prompts_identity(const Run *run); /* the same on all ranks */

/* generate.c */
void generator_open(Rank *r);
int generate_text(Generator *g, bool *stop); /* stop: it was interrupted */

/* predict.c */
/* Can the plan evaluate, and with --predict, does it say what? Prints what is wrong. */
int prediction_check(const Run *run);
int predictor_open(Rank *r);
void predictor_close(Predictor *p); /* a file that is not complete disappears */
/* After the calls of a batch; `position`: of the rank's samples. */
int predictor_take(Rank *r, int64_t position);
int predictor_finish(Rank *r); /* gives the file its name */

/* self_test.c: --self-test on run->device; the exit code. */
int self_test(const Run *run);

/* report.c */
/* Does this process tell how the run goes? */
bool run_speaks(const Run *run);
/* Device memory that this process took in addition to arenas; 0 if not known. */
uint64_t run_device_bytes(const Run *run);
/* The summary, the profile and what test modes counted; the code that the run ends with. */
int run_summarise(const Run *run, int code);

#endif

/* fsdp-run: loads and proves a plan, finds ranks, device and transport, opens everything that a run
 * needs, then trains with one thread per rank. Whatever can be wrong from the outside (files,
 * memory, ranks) is found before the first step. This file is the order in which that happens.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "local.h"
#include "run.h"
#include "stack_limit.h"
#include "state.h"
#include "version.h"

/* Rank 0 writes for all. */
static int check_outputs(const Run *run) {
    char error[ERROR_BYTES];
    int code = run->launch.rank == 0 ? outputs_check(run, error) : 0;
    return code ? say_error(code, "%s", error) : 0;
}

static void announce_run(const Run *run) {
    const LaunchContext *l = &run->launch;
    if (!run_speaks(run)) return;
    fprintf(stderr, "device %s, transport %s, %d rank%s of %d thread%s\n", run->device->name,
            run->transport->name, l->ranks, l->ranks == 1 ? "" : "s", run->threads,
            run->threads == 1 ? "" : "s");
    if (launch_is_of_processes(l))
        fprintf(stderr, "launcher %s: rank %d of %d, local rank %d of %d\n", l->launcher, l->rank,
                l->ranks, l->local_rank, l->local_ranks);
}

/* The plan does not know what device it runs on. */
static void note_nothing_to_pin(const Run *run) {
    if (!run_speaks(run) || !run->plan->settings->host_pageable || run->device->host_alloc) return;
    fprintf(
        stderr,
        "note: pin = false has no effect on device %s, which uses host memory and pins nothing\n",
        run->device->name);
}

/* The run was called off while its ranks met: mpirun is about to end them all. */
static _Noreturn void await_end(void) {
    enum { SECONDS = 10 };
    for (unsigned left = SECONDS; left;) left = sleep(left); /* signals cut it short */
    processes_quit(EXIT_INTERRUPTED);
}

/* Opens what the run reads, and asks whether all that it writes can be written. */
static int open_inputs_and_outputs(Run *run, TensorSet *weights) {
    int code = inputs_open_data(run);
    if (!code && run->options->load) code = inputs_open_weights(run, weights);
    if (!code) code = check_outputs(run);
    return code ? code : checkpoints_open(run);
}

static int open_metrics(Run *run) {
    char error[ERROR_BYTES];
    RunFacts facts = {.plan = run->plan,
                      .options = run->options,
                      .launch = &run->launch,
                      .steps = &run->steps,
                      .device = run->device,
                      .transport = run->transport,
                      .best_evaluation = run->best_evaluation,
                      .check_ms = run->check_ms,
                      .accepted = run->inputs.accepted};
    int code = metrics_open(&facts, &run->metrics, error);
    return code ? say_error(code, "%s", error) : 0;
}

/* Everything that this process can find out before its ranks are opened. */
static int prepare_run(Run *run, TensorSet *weights) {
    int code = device_choose(run);
    if (!code) code = transport_open(run);
    if (!code) code = overlap_check(run);
    if (!code) code = capacity_check_device(run);
    if (!code) code = open_inputs_and_outputs(run, weights);
    if (!code) code = capacity_check_host(run);
    if (!code) note_nothing_to_pin(run);
    if (!code) code = open_metrics(run);
    if (code) return code;
    capacity_count_threads(run);
    signals_catch(run);
    announce_run(run);
    return 0;
}

/* What must be the same on all ranks. */
static uint64_t options_fingerprint(const Run *run) {
    const RunOptions *o = run->options;
    int64_t number[] = {run->steps.end,
                        o->dump_step,
                        o->save.path != NULL,
                        o->load != NULL,
                        o->threads,
                        o->eval_only,
                        (int64_t)prompts_identity(run),
                        run->saver ? run->checkpoint.every + 1 : 0,
                        run->steps.first,
                        (int64_t)resume_identity(run)};
    return hash_bytes(number, sizeof number, 0);
}

/* All processes compare what they found. */
static int compare_processes(const Run *run, int code) {
    const LaunchContext *l = &run->launch;
    if (!l->module) return code;
    StartReport mine = {
        .code = code, .plan = run->plan->header->fingerprint, .options = options_fingerprint(run)};
    code = processes_compare(l, &mine, run->options->plan);
    if (!code && l->rank == 0 && !attempt_meet()) await_end();
    return code;
}

/* orderly: all ranks come to the end. */
static void leave_transport(Run *run, int code, bool orderly) {
    const LaunchContext *l = &run->launch;
    if (l->module && l->rank == 0) attempt_end(code);
    if (l->module)
        l->module->leave(l->world, orderly);
    else
        local_world_free(run->transport_shared);
}

/* Everything after the plan: what the run is made of, the run itself, its end. */
static int run_here(Run *run, char **argv) {
    TensorSet weights = {0};
    bool orderly = false;
    int code = compare_processes(run, prepare_run(run, &weights));
    if (!code) ranks_number(run);
    if (!code) trial_run(run, argv);
    if (!code) code = ranks_open(run);
    if (!code) {
        code = ranks_run(run);
        orderly = code == 0 || code == EXIT_INTERRUPTED;
        code = run_summarise(run, code);
    }
    if (run->launch.module && !orderly) {
        if (!run->end.silent) attempt_speak();
        writer_remove_unfinished();
        processes_quit(code);
    }
    ranks_close(run);
    metrics_close(run->metrics);
    leave_transport(run, code, orderly);
    inputs_close(run, &weights);
    saver_close(run->saver);
    resume_close(run->resume);
    return code;
}

/* Who runs the plan: other processes that this one starts, or this one. */
static int start_run(Run *run, char **argv) {
    LaunchContext *l = &run->launch;
    const RunOptions *o = run->options;
    int code = 0;
    if (restarts_supervise(l, o, &run->checkpoint, argv, &code)) return code;
    if (processes_start(l, transport_choice(o, l), argv, &code)) return code;
    processes_begin(l);
    return run_here(run, argv);
}

static int print_version(void) {
    Buf out = {0};
    version_lines(&out, "fsdp-run " FSDPC_VERSION, "");
    modules_about(&out);
    fputs(out.at, stdout);
    buf_free(&out);
    return EXIT_DONE;
}

static __attribute__((noinline)) int start(int argc, char **argv) {
    RunOptions options;
    signals_hold_notice();
    int code = options_parse(argc, argv, &options);
    if (code >= 0) return code;
    if (options.version) return print_version();
    Run run = {.options = &options,
               .steps.evaluation_only = options.eval_only,
               .end.lock = PTHREAD_MUTEX_INITIALIZER};
    if (options.self_test) {
        code = device_choose(&run);
        return code ? code : self_test(&run);
    }
    Plan plan = {0};
    int32_t timeout;
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too long is a failed write */
    char error[ERROR_BYTES];
    code = test_modes_read(&run.test, error);
    if (!code) code = timeout_read(&timeout, error);
    if (!code) code = capacity_check_stacks(error);
    if (code) return say_error(code, "%s", error);
    run.memory = arena_new();
    code = plan_open_proved(&run, &plan);
    if (!code) {
        code = launch_detect(options.ranks, (int32_t)plan.settings->ranks, &run.launch, error);
        if (code) say_error(code, "%s", error);
    }
    if (!code) code = plan_check_ranks(&run);
    bool tries = trial_is_wanted(&run);
    if (!code) run.launch.timeout = timeout;
    if (!code && tries) code = trial_here(&run);
    if (!code && !tries) {
        run.checkpoint = checkpoint_options(&run);
        attempt_find();
        attempt_resume(run.checkpoint.folder, run.memory, &options);
        code = hosts_open(&run);
    }
    if (!code && !tries) code = start_run(&run, argv);
    plan_close(&plan);
    options_free(&options);
    arena_free(run.memory);
    return code;
}

int main(int argc, char **argv) {
    signal(SIGCHLD, SIG_DFL); /* a parent may have it ignored: then nobody is waited for */
    return stack_suffices() ? start(argc, argv) : EXIT_ENVIRONMENT;
}

/* fsdp-run: loads and proves a plan, finds ranks, device and transport, opens everything that a run
 * needs, then trains with one thread a rank. Whatever can be wrong from the outside (files, memory,
 * ranks) is found before the first step. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint.h"
#include "attempt_progress.h"
#include "hosts.h"
#include "machine.h"
#include "prepared.h"
#include "profile.h"
#include "restarts.h"
#include "host_memory.h"
#include "stack_limit.h"

static Run *signalled;            /* for the handler */
static char acknowledgement[256]; /* what it says at the first signal; "" = nothing */

/* Does this process tell how the run goes? */
static bool speaks(const Run *run) {
    return !run->options->quiet && (!run->module || run->launch.rank == 0);
}

/* The first Ctrl-C asks for the end after this step; the second one ends the process, without a
 * half-written file. Each signal counts alone: launchers send several kinds of them once each. */
static void on_signal(int signal_number) {
    static atomic_flag interrupt = ATOMIC_FLAG_INIT, terminate = ATOMIC_FLAG_INIT,
                       hangup = ATOMIC_FLAG_INIT;
    bool again = atomic_exchange(&signalled->interrupted, 1);
    int number = errno;
    if (!again) (void)!write(STDERR_FILENO, acknowledgement, strlen(acknowledgement));
    errno = number;
    if (signal_number == SIGTERM && !again) atomic_store(&signalled->told_to_end, 1);
    if (signal_number == SIGUSR1) return;
    if (!atomic_flag_test_and_set(signal_number == SIGINT    ? &interrupt
                                  : signal_number == SIGTERM ? &terminate
                                                             : &hangup))
        return;
    writer_remove_unfinished();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* What becomes of the run at the first signal. The line of numbers stays above it. */
static void prepare_acknowledgement(const Run *run) {
    const char *save = run->options->save.path;
    bool trains = !run->options->generate && !run->options->eval_only;
    if (!speaks(run)) return;
    snprintf(acknowledgement, sizeof acknowledgement,
             "%sinterrupted: finishing this step%s%s%s%s\n", isatty(STDERR_FILENO) ? "\n" : "",
             trains && run->saver ? ", then a checkpoint" : "",
             trains && save ? ", then saving the weights" : "",
             trains && !run->saver && !save
                 ? "; what was trained is lost, without --checkpoint or --save"
                 : "",
             "; a second Ctrl-C ends the run at once");
}

static void catch_signals(Run *run) {
    signalled = run;
    prepare_acknowledgement(run);
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    /* The terminal is gone; under nohup that is nothing to us. */
    if (!processes_ignore(SIGHUP)) sigaction(SIGHUP, &a, NULL);
    /* A log that nobody reads any more is an error of write, and none of the run. */
    if (!run->options->generate) signal(SIGPIPE, SIG_IGN);
    /* What mpirun hands on to every rank, and what schedulers send before they end a job. */
    if (run->module || run->saver) sigaction(SIGUSR1, &a, NULL);
    sigset_t held; /* until now; SIGTERM in ranks that fsdp-run started */
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &held, NULL);
    mapped_watch();
}

/* A launcher hands it to ranks, whether they have a handler yet or not. */
static void hold_notice(void) {
    sigset_t notice;
    sigemptyset(&notice);
    sigaddset(&notice, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &notice, NULL);
}

static int report(int code, const char *text) {
    fprintf(stderr, "error: %s\n", text);
    return code;
}

/* A model, which has to be compiled first. */
static int not_compiled(const char *model) {
    int n = (int)(strrchr(model, '.') - model);
    fprintf(stderr,
            "error: %s is a model, not a plan: it has to be compiled first\n"
            "help: fsdpc compile %s -o %.*s.bin && fsdp-run %.*s.bin\n",
            model, model, n, model, n, model);
    return EXIT_USER;
}

static int no_plan(const char *path, int code, const char *error) {
    if (code == EXIT_CORRUPT)
        fprintf(stderr, "error: %s: %s\n", path, error);
    else
        fprintf(stderr, "error: %s\n", error);
    if (!strstr(error, "compile")) /* which says what to do */
        fprintf(stderr, "help: fsdpc compile model.fsd -o plan.bin makes a plan\n");
    return code;
}

static int open_plan(Run *run, Plan *p) {
    char error[ERROR_BYTES];
    int code = plan_open(p, run->options->plan, error, sizeof error);
    const char *end = strrchr(run->options->plan, '.');
    if (code == EXIT_CORRUPT && end && !strcmp(end, ".fsd"))
        return not_compiled(run->options->plan);
    if (code) return no_plan(run->options->plan, code, error);
    run->plan = p;
    PlanFault fault;
    struct timespec begun, over;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    code = plan_check(p, &fault);
    clock_gettime(CLOCK_MONOTONIC, &over);
    run->check_ms =
        1e3 * (double)(over.tv_sec - begun.tv_sec) + 1e-6 * (double)(over.tv_nsec - begun.tv_nsec);
    if (!code) return 0;
    char place[256] = "the plan";
    if (fault.instr != UINT64_MAX) plan_instr_text(p, fault.instr, place, sizeof place);
    fprintf(stderr, "error: %s: rule %s: %s: %s\n", run->options->plan, fault.rule, place,
            fault.message);
    return code;
}

static int check_ranks(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if ((uint32_t)run->launch.ranks == s->ranks) return 0;
    fprintf(stderr,
            "error: %s was compiled for %u rank%s, and %s%s asks for %d\n"
            "help: fsdpc compile %s -o %s -n %d\n",
            run->options->plan, s->ranks, s->ranks == 1 ? "" : "s", run->launch.launcher,
            strcmp(run->launch.launcher, "-n") ? "'s environment" : "", run->launch.ranks,
            plan_string(run->plan, *plan_string(run->plan, s->command) ? s->command : s->model),
            run->options->plan, run->launch.ranks);
    return EXIT_USER;
}

/* --hosts, or those of them that are left. */
static int open_hosts(Run *run) {
    char error[ERROR_BYTES];
    const char *left = getenv(SPAWN_HOSTS), *text = run->options->hosts;
    if (!text) return 0;
    if (launch_is_of_processes(&run->launch)) {
        fprintf(stderr,
                "error: --hosts: %s started this rank, and starts the others\n"
                "help: --hosts is for runs that fsdp-run starts itself\n",
                run->launch.launcher);
        return EXIT_USER;
    }
    int code = hosts_read(left ? left : text, run->launch.ranks, &run->hosts, error);
    return code ? report(code, error) : 0;
}

static int choose_device(Run *run) {
    char error[ERROR_BYTES], reason[ERROR_BYTES] = "";
    const char *name = run->options->device;
    int code = 0;
    if (!strcmp(name, "auto")) {
        run->device = device_load("cuda", reason, &code);
        name = "cpu";
        if (!run->device && !run->options->quiet)
            fprintf(stderr, "note: %s; the run takes device cpu\n", reason);
    }
    if (!run->device) run->device = device_load(name, error, &code);
    return run->device ? 0 : report(code, error);
}

static int missing_transport(const Run *run, const char *name) {
    static const char *const others[] = {"mpi", "nccl", "tcp"};
    const Launch *l = &run->launch;
    char known[64] = "local";
    for (size_t i = 0, n = 5; i < ARRAY_LEN(others); i++)
        if (transport_known(others[i]))
            n += (size_t)snprintf(known + n, sizeof known - n, " and %s", others[i]);
    fprintf(stderr, "error: transport %s is not in this build of fsdp-run, which has %s\n", name,
            known);
    if (!run->options->transport)
        fprintf(stderr, "note: %s and device %s go with transport %s\n", l->launcher,
                run->device->name, name);
    fprintf(stderr,
            "help: --transport local runs all ranks as threads of one process: fsdp-run -n %d\n",
            l->ranks);
    if (transport_known("mpi"))
        fprintf(stderr, "help: --transport mpi -n %d starts a process for each rank\n", l->ranks);
    return EXIT_ENVIRONMENT;
}

/* What does not go together, said before any rank waits for another. */
static int check_transport(const Run *run, const char *name, bool many) {
    const Launch *l = &run->launch;
    bool cpu = run->device->kind == DEVICE_CPU;
    if (strcmp(name, "local") && !transport_known(name)) return missing_transport(run, name);
    if (!strcmp(name, "nccl") && cpu) {
        fprintf(stderr,
                "error: transport nccl works with device cuda, not %s\n"
                "help: --device cuda; on CPUs --transport mpi, or local\n",
                run->device->name);
        return EXIT_USER;
    }
    if (!strcmp(name, "tcp") && !cpu) {
        fprintf(stderr,
                "error: transport tcp works with device cpu, not %s\n"
                "help: on GPUs --transport nccl\n",
                run->device->name);
        return EXIT_USER;
    }
    if (!strcmp(name, "mpi") && (getenv("FSDP_SECRET") || getenv("FSDP_SECRET_FILE"))) {
        fprintf(stderr, "error: FSDP_SECRET: under transport mpi Open MPI brings the ranks "
                        "together, and does not know it\n"
                        "help: env -u FSDP_SECRET -u FSDP_SECRET_FILE fsdp-run ... starts without "
                        "a secret\n");
        return EXIT_USER;
    }
    if (many && !strcmp(name, "local")) {
        fprintf(stderr,
                "error: transport local keeps all ranks in one process, but %s started %d\n"
                "help: start fsdp-run -n %d once, without a launcher\n",
                l->launcher, l->ranks, l->ranks);
        return EXIT_USER;
    }
    return 0;
}

static int choose_transport(Run *run) {
    const char *name = transport_choice(run);
    const Launch *l = &run->launch;
    int code = check_transport(run, name, launch_is_of_processes(l) && l->ranks > 1);
    if (code) return code;
    if (strcmp(name, "local")) return processes_join(run, name);
    run->transport = &transport_local;
    run->transport_shared = local_world_new(run->plan, l->ranks, run->timeout);
    return 0;
}

/* Steps that the plan's schedule has, and that will run. */
static int count_steps(Run *run) {
    const PlanSettings *s = run->plan->settings;
    run->plan_steps = s->steps;
    run->loss_scale = loss_scale_start(s);
    if (!s->steps) {
        int64_t samples;
        if (__builtin_mul_overflow(s->epochs, run->train->samples, &samples))
            return report(EXIT_USER, "train.epochs: too many steps");
        /* rounded up: every sample is seen `epochs` times */
        run->plan_steps = samples / s->batch + (samples % s->batch != 0);
        if (s->schedule != SCHEDULE_CONSTANT && s->warmup + s->decay > (double)run->plan_steps) {
            fprintf(stderr,
                    "error: train.schedule: warmup%s = %g is longer than the %" PRId64
                    " steps of %" PRId64 " epochs\n",
                    s->decay > 0 ? " + decay" : "", s->warmup + s->decay, run->plan_steps,
                    s->epochs);
            return EXIT_USER;
        }
    }
    /* positions in the data are counted through all steps, and one evaluation after them */
    if (product(run->plan_steps, s->batch) > INT64_MAX / 4 ||
        tokens_per_step(run->plan) == INT64_MAX)
        return report(EXIT_USER, "the plan's steps read more samples than can be counted");
    run->steps = run->options->steps >= 0 ? run->options->steps : run->plan_steps;
    if (run->steps > run->plan_steps) {
        fprintf(stderr,
                "error: --steps %" PRId64 ": the plan's schedule has %" PRId64 " steps\n"
                "help: compile with -s train.steps=%" PRId64 "\n",
                run->steps, run->plan_steps, run->steps);
        return EXIT_USER;
    }
    if (run->options->dump_step >= run->steps) {
        fprintf(stderr, "error: --dump-grads %" PRId64 ": the run's steps are 0 to %" PRId64 "\n",
                run->options->dump_step, run->steps - 1);
        return EXIT_USER;
    }
    return 0;
}

/* Legal, and rarely meant. */
static void note_few_samples(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if (run->options->quiet || run->train->samples >= s->batch) return;
    fprintf(stderr,
            "note: data.train (%s) has %" PRId64 " sample%s, fewer than the batch of %" PRId64
            ": each step repeats some\n",
            run->train->file[0].map.path, run->train->samples, run->train->samples == 1 ? "" : "s",
            s->batch);
}

/* Does the run come to an evaluation? */
static bool evaluates(const Run *run) {
    int64_t every = run->plan->settings->eval_every;
    return run->options->eval_only || (every > 0 && every <= run->steps);
}

static int check_evaluation(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if (!run->val || !evaluates(run)) return 0;
    int64_t need = evaluation_samples(run->plan);
    if (need > INT64_MAX / 4)
        return report(EXIT_USER, "train.eval_steps: more samples than can be counted");
    for (uint64_t i = 0; i < run->plan->n_roles; i++) {
        int64_t round = evaluation_round(run->plan, (uint32_t)i);
        if (round && need % round)
            return report(EXIT_CORRUPT, "the plan's evaluation calls do not divide its samples");
    }
    if (need <= run->val->samples) return 0;
    fprintf(stderr,
            "error: evaluation reads eval_steps * batch = %" PRId64
            " samples, data.val (%s) has %" PRId64 "\n",
            need, dataset_place(run->val), run->val->samples);
    if (run->val->samples >= s->batch)
        fprintf(stderr, "help: compile with -s train.eval_steps=%" PRId64 "\n",
                run->val->samples / s->batch);
    else
        fprintf(stderr, "help: compile with a smaller train.batch%s\n",
                run->options->eval_only ? "" : ", or with -s train.eval_every=none");
    return EXIT_USER;
}

static int open_validation(Run *run) {
    char error[ERROR_BYTES];
    const Options *o = run->options;
    int code = dataset_open(run->plan, "val", o->data, o->n_data, &run->val, error);
    if (code) return report(code, error);
    if (run->val || !o->eval_only) return check_evaluation(run);
    fprintf(stderr, "error: --eval-only: the plan has no data.val\n"
                    "help: compile with -s 'data.val=text(\"file\")', or another source\n");
    return EXIT_USER;
}

static int open_training(Run *run) {
    char error[ERROR_BYTES];
    const Options *o = run->options;
    int code = dataset_open(run->plan, "train", o->data, o->n_data, &run->train, error);
    if (code) return report(code, error);
    if (!run->train) return report(EXIT_CORRUPT, "the plan names no training data");
    code = count_steps(run);
    if (!code) note_few_samples(run);
    return code;
}

static int open_data(Run *run) {
    char error[ERROR_BYTES];
    const Options *o = run->options;
    const PlanSettings *s = run->plan->settings;
    Mesh mesh = plan_mesh(run->plan);
    if (s->local_batch <= 0 || s->micro_batches <= 0 || s->batch % s->local_batch ||
        s->batch / s->local_batch % s->micro_batches ||
        s->batch / s->local_batch / s->micro_batches != mesh_extent(&mesh, mesh_sample_axes(&mesh)))
        return report(EXIT_CORRUPT, "the plan's batch is not ranks * accumulate * local batch");
    for (uint64_t i = 0; i < run->plan->n_fields; i++) {
        const Type *t = &run->plan->fields[i].type;
        if (t->rank < 1 || t->dim[0] != s->local_batch)
            return report(EXIT_CORRUPT, "the plan's batch fields are not local batches");
    }
    int code = o->generate ? generate_check(run, error)
                           : data_options_check(run->plan, o->data, o->n_data, error);
    if (code) return report(code, error);
    if (o->generate) return 0;
    if (!o->eval_only) code = open_training(run);
    return code || !evaluates(run) ? code : open_validation(run);
}

static int open_weights(Run *run, TensorSet *set) {
    char error[ERROR_BYTES];
    if (ck_is_checkpoint(run->options->load)) return resume_weights(run, run->options->load);
    int code = tensor_set_open(set, run->options->load, error);
    if (code) return report(code, error);
    run->weights = set;
    run->match = calloc(run->plan->n_params + 1, sizeof *run->match);
    if (!run->match) fail_environment("no memory for the names of %s", set->path);
    Buf list = {0};
    code = tensors_match(run->plan, set, run->match, &list);
    if (code) fprintf(stderr, "error: %.*s", (int)list.n, list.at);
    buf_free(&list);
    if (code) return code;
    mapped_watch();
    code = weights_compare(run, error);
    return code ? report(code, error) : 0;
}

/* What the command line says, else what the model does. */
static CheckpointOptions checkpoint_options(const Run *run) {
    enum { KEPT = 2 };
    CheckpointOptions c = run->options->checkpoint;
    const PlanSettings *s = run->plan->settings;
    const char *folder = plan_string(run->plan, s->checkpoint);
    bool planned = *folder;
    if (!c.folder && planned) c.folder = folder;
    if (c.every < 0) c.every = s->checkpoint_every;
    if (c.keep < 0) c.keep = planned ? s->keep : KEPT;
    if (c.keep_every < 0) c.keep_every = s->keep_every;
    c.keep_best |= s->keep_best;
    if (c.form < 0) c.form = (int32_t)s->form;
    c.max_file = run->options->save.max_file;
    return c;
}

/* Options of checkpoints that are not made. */
static int check_checkpoint_options(const CheckpointOptions *c) {
    const char *other = c->every >= 0        ? "--checkpoint-every"
                        : c->keep >= 0       ? "--keep"
                        : c->keep_every >= 0 ? "--keep-every"
                        : c->keep_best       ? "--keep-best"
                        : c->form >= 0       ? "--checkpoint-form"
                                             : NULL;
    if (!other) return 0;
    fprintf(stderr,
            "error: %s goes with --checkpoint FOLDER, or checkpoint.path in the model file\n",
            other);
    return EXIT_USER;
}

/* --max-file, where there is nothing to cut. */
static int check_max_file(const Run *run) {
    const Options *o = run->options;
    const CheckpointOptions *c = &run->checkpoint;
    if (!o->cuts_files || o->save.folder || (c->folder && c->form == CHECKPOINT_FULL)) return 0;
    if (o->save.path)
        fprintf(stderr, "error: --max-file goes with a folder: --save %s/\n", o->save.path);
    else
        fprintf(stderr,
                "error: --max-file goes with --save FOLDER/, or checkpoints of --checkpoint-form "
                "full\n");
    return EXIT_USER;
}

static int open_checkpoints(Run *run) {
    char error[ERROR_BYTES];
    const Options *o = run->options;
    int code = o->resume ? resume_open(run) : 0;
    if (code) return code;
    if (o->eval_only || o->generate) run->checkpoint.folder = NULL;
    code = check_max_file(run);
    if (code) return code;
    if (!run->checkpoint.folder) return check_checkpoint_options(&o->checkpoint);
    code = saver_open(run, error);
    return code ? report(code, error) : 0;
}

/* Rank 0 writes for all. */
static int check_outputs(const Run *run) {
    char error[ERROR_BYTES];
    int code = run->launch.rank == 0 ? outputs_check(run, error) : 0;
    return code ? report(code, error) : 0;
}

static void announce(const Run *run) {
    const Launch *l = &run->launch;
    if (!speaks(run)) return;
    fprintf(stderr, "device %s, transport %s, %d rank%s of %d thread%s\n", run->device->name,
            run->transport->name, l->ranks, l->ranks == 1 ? "" : "s", run->threads,
            run->threads == 1 ? "" : "s");
    if (launch_is_of_processes(l))
        fprintf(stderr, "launcher %s: rank %d of %d, local rank %d of %d\n", l->launcher, l->rank,
                l->ranks, l->local_rank, l->local_ranks);
}

static int32_t cores_of_rank(const Run *run) {
    cpu_set_t cores;
    int n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    int32_t ranks = run->launch.local_ranks;
    /* mpirun and srun deal out the cores: then those that we see are this rank's alone. */
    if (!run->module || (long)n * ranks > sysconf(_SC_NPROCESSORS_ONLN)) n /= ranks;
    return MAX(1, n);
}

static void *rank_main(void *context) {
    Rank *r = context;
    int code = trainer_run(r);
    if (code) run_fail(r, code);
    return NULL;
}

/* What the transport found when it was opened. */
static void announce_transport(const Run *run) {
    char text[160];
    if (!speaks(run) || !run->transport->about) return;
    run->transport->about(run->rank[0].transport, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

static int open_ranks(Run *run) {
    run->n_rank = run->module ? 1 : run->launch.ranks;
    run->rank = calloc((size_t)run->n_rank, sizeof *run->rank);
    if (!run->rank) fail_environment("no memory for %d ranks", run->n_rank);
    for (int32_t i = 0; i < run->n_rank; i++) {
        Rank *r = &run->rank[i];
        r->run = run;
        r->rank = run->module ? run->launch.rank : i;
        r->local = run->module ? run->launch.local_rank : i;
        int code = rank_open(r);
        if (code && !run->module) return report(code, r->error);
        if (!code) continue;
        run_fail(r, code);
        return run->silent ? run->failure : report(run->failure, run->failure_text);
    }
    announce_transport(run);
    return 0;
}

/* False: a rank does not end, which the others do not wait for: the run has failed. Waits in
 * slices, so a run that is suspended is not late. */
static bool join_ranks(Run *run, int32_t started) {
    enum { SLICE_NS = 50 * 1000 * 1000, SLICES_A_SECOND = 20 };
    int32_t late = 0;
    for (int32_t i = 0; i < started; i++)
        for (;;) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += SLICE_NS;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            if (!pthread_timedjoin_np(run->rank[i].thread, NULL, &until)) break;
            pthread_mutex_lock(&run->lock);
            int failure = run->failure;
            pthread_mutex_unlock(&run->lock);
            /* Where a rank stopped answering, the time is up already. */
            int32_t limit = failure == EXIT_RANK ? 1 : run->timeout;
            if (failure && ++late >= limit * SLICES_A_SECOND) return false;
        }
    return true;
}

static int run_ranks(Run *run) {
    int32_t started = 0;
    while (started < run->n_rank &&
           !pthread_create(&run->rank[started].thread, NULL, rank_main, &run->rank[started]))
        started++;
    if (started < run->n_rank) {
        snprintf(run->rank[started].error, ERROR_BYTES, "cannot start a thread");
        run_fail(&run->rank[started], EXIT_ENVIRONMENT);
    }
    bool all_ended = join_ranks(run, started);
    metrics_end_bar(run->metrics);
    if (!all_ended) {
        pthread_mutex_lock(&run->lock); /* for good: ranks that still run may fail too */
        if (!run->silent) report(run->failure, run->failure_text);
        writer_remove_unfinished();
        processes_quit(run->failure);
    }
    if (run->failure) return run->silent ? run->failure : report(run->failure, run->failure_text);
    if (!run->was_interrupted) return 0;
    if (speaks(run))
        fprintf(stderr, "interrupted after a whole step%s%s%s%s\n",
                run->options->save.path ? "; the weights are in " : "",
                run->options->save.path ? run->options->save.path : "",
                run->saver ? "; to go on: --resume " : "",
                run->saver ? run->checkpoint.folder : "");
    return EXIT_INTERRUPTED;
}

static void report_allocations(const Run *run) {
    if (!run->test.allocations) return;
    AllocationCounts c = allocations_counted();
    fprintf(stderr,
            "allocations in steps 2 to 10: ours %" PRIu64 ", libraries %" PRIu64 " (%" PRIu64
            " bytes)\n",
            c.ours, c.library, c.library_bytes);
    if (c.ours) BUG("memory was allocated inside a step, first from %p", c.first_ours);
}

/* The table goes where the summary goes. */
static int write_profile(const Run *run) {
    char error[ERROR_BYTES];
    bool shown = !run->options->quiet && run->rank[0].rank == 0;
    bool log = run->options->log && !strcmp(run->options->log, "-");
    int code = profile_write(run, !shown ? NULL : log ? stderr : stdout, error);
    return code ? report(code, error) : 0;
}

static int summarise(const Run *run, int code) {
    uint64_t high_water = 0;
    for (int32_t i = 0; i < run->n_rank; i++) {
        const Executor *e = run->rank[i].executor;
        if (e && e->memory) high_water = MAX(high_water, memory_check_high_water(e->memory));
    }
    bool ended = code == 0 || code == EXIT_INTERRUPTED;
    bool first = run->rank[0].rank == 0;
    if (ended && first && !run->options->generate) metrics_summary(run->metrics, high_water);
    int written = ended && run->options->profile ? write_profile(run) : 0;
    if (ended && first) {
        /* After the ranks' parting a launcher may end this process for another one's code. */
        if (fflush(stdout) && errno != EPIPE && !code)
            code = report(EXIT_ENVIRONMENT, "cannot write the summary");
        report_allocations(run);
    }
    return code ? code : written;
}

/* remedy NULL: a smaller arena. */
static int report_shortage(const Run *run, int code, const char *what, const char *remedy) {
    Arena *a = arena_new();
    if (!remedy) remedy = plan_advice(run->plan, (DeviceKind)run->device->kind, a);
    fprintf(stderr, "error: %s\nhelp: %s\n", what, remedy);
    arena_free(a);
    return code;
}

/* A device that is too small is said before the ranks meet. */
static int check_device_room(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    char error[ERROR_BYTES];
    DeviceOptions device = {.local_rank = run->module ? run->launch.local_rank : 0,
                            .process_ranks = run->module ? 1 : run->launch.ranks};
    if (!run->device->fits) return 0;
    int code = run->device->fits(&device, s->workspace_bytes[run->device->kind], error);
    if (!code) return 0;
    return report_shortage(run, code, error, NULL);
}

/* The memory of this machine, before any rank takes of it. On several hosts, what a lost one means
 * is told as long as there is time to think about it. */
static int check_host_room(const Run *run) {
    char text[ERROR_BYTES];
    const Launch *l = &run->launch;
    HostRoom room = room_of(run);
    uint64_t available = machine_available_bytes("");
    int code = room_check(&room, available, text);
    if (code) return report_shortage(run, code, text, room_remedy(&room, available));
    bool takes = room.arena || room.offloaded || room.copy;
    if (!speaks(run) || !run->saver || l->local_ranks == l->ranks || !takes || !available) return 0;
    room_for_twice(&room, l->ranks, available, text, sizeof text);
    fprintf(stderr, "note: %s\n", text);
    return 0;
}

/* The plan does not know what device it runs on. */
static void note_nothing_to_pin(const Run *run) {
    if (!speaks(run) || !run->plan->settings->host_pageable || run->device->host_alloc) return;
    fprintf(stderr,
            "note: pin = false has no effect on device %s, whose memory is the host's: nothing is "
            "pinned there\n",
            run->device->name);
}

/* The run was called off while its ranks met: mpirun is about to end them all. */
static _Noreturn void await_end(void) {
    enum { SECONDS = 10 };
    for (unsigned left = SECONDS; left;) left = sleep(left); /* signals cut it short */
    processes_quit(EXIT_INTERRUPTED);
}

/* Everything after the plan: what the run is made of, the run itself, its end. */
static int train(Run *run) {
    char error[ERROR_BYTES];
    TensorSet weights = {0};
    bool orderly = false; /* all ranks come to the end */
    int code = choose_device(run);
    if (!code) code = choose_transport(run);
    if (!code) code = overlap_check(run);
    if (!code) code = check_device_room(run);
    if (!code) code = open_data(run);
    if (!code && run->options->load) code = open_weights(run, &weights);
    if (!code) code = check_outputs(run);
    if (!code) code = open_checkpoints(run);
    if (!code) code = check_host_room(run);
    if (!code) note_nothing_to_pin(run);
    if (!code && (code = metrics_open(run, error))) report(code, error);
    if (!code) {
        run->cores = cores_of_rank(run);
        int32_t threads = run->options->threads ? run->options->threads : run->cores;
        run->threads = MIN(threads, (int32_t)DEVICE_THREADS);
        allocations_watch_modules();
        catch_signals(run);
        announce(run);
    }
    if (run->module) code = processes_compare(run, code);
    if (!code && run->module && run->launch.rank == 0 && !course_meet(run)) await_end();
    if (!code) code = open_ranks(run);
    if (!code) {
        code = run_ranks(run);
        orderly = code == 0 || code == EXIT_INTERRUPTED;
        code = summarise(run, code);
    }
    if (run->module && !orderly) {
        if (!run->silent) processes_said();
        processes_quit(code);
    }
    for (int32_t i = 0; run->rank && i < run->n_rank; i++) rank_close(&run->rank[i]);
    free(run->rank);
    metrics_close(run->metrics);
    if (run->module && run->launch.rank == 0) course_end(run, code);
    if (run->module)
        run->module->leave(run->world, orderly);
    else
        local_world_free(run->transport_shared);
    dataset_close(run->train);
    dataset_close(run->val);
    free(run->match);
    tokenizer_close(run->tokenizer);
    if (weights.arena) tensor_set_close(&weights);
    saver_close(run->saver);
    resume_close(run->resume);
    return code;
}

/* Of a thread that runs kernels: frames of ours are below 9 KiB, and oneDNN's products fit, too. */
#define LEAST_THREAD_STACK_BYTES (64u << 10)

/* What OpenMP makes of a size: KiB without a letter. What it cannot read, it ignores. */
static bool too_small(const char *size) {
    static const char letters[] = "bkmg";
    char *end;
    errno = 0;
    double bytes = (double)strtoull(size, &end, 10);
    if (end == size || errno) return false;
    end += strspn(end, " \t");
    const char *letter = *end ? strchr(letters, *end | 32) : letters + 1;
    for (const char *k = letters; letter && k < letter; k++) bytes *= 1024;
    return letter && bytes < LEAST_THREAD_STACK_BYTES;
}

/* Threads of OpenMP have stacks of this size; kernels on less would end by a signal. */
static int check_thread_stacks(char *error) {
    static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *size = getenv(names[i]);
        if (!size || !too_small(size)) continue;
        snprintf(error, ERROR_BYTES,
                 "%s=%.40s: the threads of a run need stacks of 64 KiB\nhelp: unset %s", names[i],
                 size, names[i]);
        return EXIT_ENVIRONMENT;
    }
    return 0;
}

static __attribute__((noinline)) int start(int argc, char **argv) {
    Options options;
    hold_notice();
    int code = options_parse(argc, argv, &options);
    if (code >= 0) return code;
    Run run = {.options = &options, .lock = PTHREAD_MUTEX_INITIALIZER};
    Plan plan = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file that grew too long is an error of write */
    char error[ERROR_BYTES];
    code = test_modes_read(&run.test, error);
    if (!code) code = timeout_read(&run.timeout, error);
    if (!code) code = check_thread_stacks(error);
    if (code) return report(code, error);
    code = open_plan(&run, &plan);
    if (!code &&
        (code = launch_detect(&options, (int32_t)plan.settings->ranks, &run.launch, error)))
        report(code, error);
    if (!code) code = check_ranks(&run);
    if (!code) {
        run.checkpoint = checkpoint_options(&run);
        course_find(&run);
        course_resume(&run, &options);
    }
    if (!code) code = open_hosts(&run);
    if (!code && !restarts_keep(&run, argv, &code) &&
        !processes_start(&run, transport_choice(&run), argv, &code)) {
        processes_begin(&run);
        code = train(&run);
    }
    hosts_free(&run.hosts);
    plan_close(&plan);
    for (uint32_t i = 0; i < options.n_data; i++) free((void *)(uintptr_t)options.data[i].name);
    free(options.data);
    free(options.save_path);
    return code;
}

int main(int argc, char **argv) { return stack_suffices() ? start(argc, argv) : EXIT_ENVIRONMENT; }

/* Continues from a checkpoint: finds it, compares its model and settings with those of this run,
 * and fills the shards of each rank from the ranges of the checkpoint that they need.
 *
 * Every block that is read is verified. A damaged checkpoint ends the run, with the name of the
 * newest whole one before it: the user decides to lose steps, this program never does.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "saving.h"

enum { PIECE = 1 << 20, NO_ROW = -1 }; /* PIECE: elements at a time */

struct Resume {
    Arena *arena;
    char folder[CK_PATH];
    bool weights_only; /* --load */
    Checkpoint *from;
    RunContents mine;
    int64_t *row; /* [mine.c.n_tensor] in the checkpoint, or NO_ROW */
};

const char *resume_folder(const Run *run) {
    return run->resume && !run->resume->weights_only ? run->resume->folder : NULL;
}

uint64_t resume_identity(const Run *run) {
    if (!run->resume) return 0;
    const CkContents *c = checkpoint_contents(run->resume->from);
    return c->run ^ c->plan ^ (uint64_t)c->step ^ 1;
}

/* ---- comparing */

enum { SHOWN = 20 };

typedef struct Comparing {
    Resume *s;
    const CkContents *old, *new;
    bool weights; /* those are compared, else the states of the optimizer */
    Buf text;
    uint32_t faults;
} Comparing;

static void compare_tensor(void *user, const CkTensor *old, const CkTensor *new) {
    Comparing *c = user;
    char now[TYPE_TEXT] = "", then[TYPE_TEXT] = "";
    if ((new ? ck_is_weight(c->new, new) : ck_is_weight(c->old, old)) != c->weights) return;
    if (new) c->s->row[new - c->new->tensor] = old ? old - c->old->tensor : NO_ROW;
    if (new) ck_shape_text(c->new, new, now);
    if (old) ck_shape_text(c->old, old, then);
    bool same = old && new && old->rank == new->rank &&
                !memcmp(old->dim, new->dim, sizeof old->dim) &&
                (c->s->weights_only || !strcmp(now, then));
    if (same || ++c->faults > SHOWN) return;
    if (!new)
        buf_printf(&c->text, "  %s: in the checkpoint, not here\n", old->name);
    else if (old)
        buf_printf(&c->text, "  %s: %s in the checkpoint, %s here\n", new->name, then, now);
    else
        buf_printf(&c->text, "  %s: %s here, not in the checkpoint\n", new->name, now);
}

/* Prints what was found, if anything. */
static int print_differences(Comparing *c, int code, const char *title, const char *help) {
    bool bad = c->faults > 0;
    if (bad) fprintf(stderr, "error: %s: %s\n%s", c->s->folder, title, c->text.at);
    if (c->faults > SHOWN) fprintf(stderr, "  and %u more\n", c->faults - SHOWN);
    if (bad && *help) fprintf(stderr, "help: %s%s\n", help, c->s->folder);
    buf_free(&c->text);
    return bad ? code : 0;
}

static int compare_tensors(Resume *s, bool weights) {
    Comparing c = {
        .s = s, .old = checkpoint_contents(s->from), .new = &s->mine.c, .weights = weights};
    ck_each_pair(c.old, c.new, compare_tensor, &c);
    if (weights)
        return print_differences(&c, EXIT_CORRUPT, "the checkpoint is of another model", "");
    return print_differences(&c, EXIT_USER, "its optimizer states differ from this run's",
                             "to start anew from its weights only: --load ");
}

static int compare_settings(const Run *run, Resume *s, bool must_stay) {
    Comparing c = {.s = s, .old = checkpoint_contents(s->from), .new = &s->mine.c};
    for (uint32_t i = 0; i < c.new->n_setting; i++) {
        const char *key = c.new->setting[i].key, *now = c.new->setting[i].value;
        const char *then = ck_setting(c.old, key);
        if (!then || !strcmp(then, now) || setting_must_stay(key) != must_stay) continue;
        if (must_stay) {
            c.faults++;
            buf_printf(&c.text, "  %s: %s in the checkpoint, %s now\n", key, then, now);
        } else if (!run->options->quiet && run->launch.rank == 0) {
            fprintf(stderr, "note: %s was %s and is %s from step %" PRId64 " on\n", key, then, now,
                    c.old->step);
        }
    }
    return print_differences(
        &c, EXIT_USER, "settings differ from the checkpoint",
        "use the checkpoint's settings; or, to start anew from its weights only: --load ");
}

/* ---- opening */

static int open_step(Run *run, const char *path, bool weights_only) {
    char error[ERROR_BYTES];
    Arena *a = arena_new();
    Resume *s = run->resume = arena_new_of(a, Resume);
    s->arena = a;
    s->weights_only = weights_only;
    int code = ck_resolve_step(path, s->folder, error);
    if (code) return say_error(code, "%s", error);
    code = checkpoint_open(&s->from, s->folder, error);
    if (code) {
        if (code == EXIT_CORRUPT && run->launch.rank == 0) ck_advise_other_step(s->folder, error);
        return say_error(code, "%s", error);
    }
    if ((code = run_contents_make(run, a, &s->mine, error))) return say_error(code, "%s", error);
    s->row = arena_array(a, int64_t, s->mine.c.n_tensor + 1);
    return compare_tensors(s, true);
}

int resume_weights(Run *run, const char *path) { return open_step(run, path, true); }

static int check_steps(const Run *run, const Resume *s) {
    const CkContents *c = checkpoint_contents(s->from);
    if (c->step <= run->steps.end) return 0;
    return say_error(EXIT_USER,
                     "%s was made after %" PRId64 " steps, but this run has only %" PRId64 "\n"
                     "help: use a larger --steps, or compile with a larger train.steps",
                     s->folder, c->step, run->steps.end);
}

static bool nothing_there(const char *path) {
    struct stat st;
    return stat(path, &st) || (S_ISDIR(st.st_mode) && !ck_holds_checkpoint(path));
}

/* A place that cannot be looked at may have a checkpoint: no reason to start anew. 0 or errno */
static int cannot_look(const char *path) {
    struct stat st;
    if (stat(path, &st)) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    if (!S_ISDIR(st.st_mode)) return 0;
    DIR *d = opendir(path);
    int number = d ? 0 : errno;
    if (d) closedir(d);
    return number;
}

/* A scale that moves goes on from where it was; one that stays is what the plan says. */
static void resume_loss_scale(Run *run, const LossScale *then) {
    double planned = run->loss_scale.scale;
    run->loss_scale.skipped = then->skipped;
    if (planned <= 0 || then->scale <= 0) return;
    run->loss_scale = *then;
    if (!run->plan->settings->loss_interval) run->loss_scale.scale = planned;
}

int resume_open(Run *run) {
    const char *path = run->options->resume;
    char meant[CK_PATH];
    if (ck_complete_path(path, meant)) path = meant;
    bool nothing = nothing_there(path);
    int number = cannot_look(path);
    if (number)
        return say_error(EXIT_ENVIRONMENT, "--resume%s %s: cannot read it: %s",
                         run->options->or_start ? "-or-start" : "", path, strerror(number));
    if (nothing && run->options->or_start) return 0;
    if (nothing)
        return say_error(EXIT_ENVIRONMENT,
                         "--resume %s: there is no checkpoint\n"
                         "help: --resume-or-start starts a run where there is none",
                         path);
    int code = open_step(run, path, false);
    if (code) return code;
    Resume *s = run->resume;
    const CkContents *c = checkpoint_contents(s->from);
    code = compare_settings(run, s, true);
    if (!code) code = compare_tensors(s, false);
    if (!code) code = check_steps(run, s);
    if (code) return code;
    compare_settings(run, s, false);
    run->steps.first = c->step;
    run->steps.evaluation_due = c->evaluation_due;
    run->best_evaluation = c->best_evaluation;
    resume_loss_scale(run, &c->loss_scale);
    if (!run->options->quiet && run->launch.rank == 0)
        fprintf(stderr, "resuming from %s after %" PRId64 " of %" PRId64 " steps\n", s->folder,
                c->step, run->steps.end);
    return 0;
}

void resume_close(Resume *s) {
    if (!s) return;
    checkpoint_close(s->from);
    arena_free(s->arena);
}

/* ---- the shards */

typedef struct ShardFill {
    Rank *rank;
    const Resume *s;
    Checkpoint *from; /* of this thread */
    char *host;       /* PIECE elements as the checkpoint has them, .. */
    char *other;      /* .. and as the state does */
} ShardFill;

/* Elements of a part of a tensor: row of the checkpoint. */
static int read_part(ShardFill *f, uint32_t row, const TensorPart *part, int64_t first, int64_t n,
                     int dtype, char *to) {
    int code = 0;
    for (int64_t done = 0, count; done < n && !code; done += count) {
        count = MIN(tensor_run(part, first + done), n - done);
        if (tensor_pads(part, first + done)) {
            memset(to + done * dtype_bytes(dtype), 0, (uint64_t)count * dtype_bytes(dtype));
            continue;
        }
        code = checkpoint_read(f->from, row, tensor_element(part, first + done), count,
                               to + done * dtype_bytes(dtype), f->rank->error);
    }
    return code;
}

/* The same, which may have another dtype than the state. */
static int fill_piece(ShardFill *f, uint32_t row, const TensorPart *part, int64_t first, int64_t n,
                      int to_dtype, char *to) {
    const CkContents *c = checkpoint_contents(f->from);
    int dtype = (int)c->vector[c->tensor[row].vector].dtype;
    bool converts = dtype != to_dtype, direct = f->rank->run->device->arena_is_host && !converts;
    rank_beat(f->rank);
    int code = read_part(f, row, part, first, n, dtype, direct ? to : f->host);
    if (code || direct) return code;
    const char *from = f->host;
    if (converts) {
        float value[1024];
        uint32_t in = dtype_bytes(dtype), out = dtype_bytes(to_dtype);
        for (int64_t done = 0; done < n; done += (int64_t)ARRAY_LEN(value)) {
            int64_t count = MIN(n - done, (int64_t)ARRAY_LEN(value));
            load_floats(f->host + done * in, file_type_of(dtype), count, value);
            store_floats(f->other + done * out, to_dtype, value, count);
        }
        from = f->other;
    }
    code = rank_copy_in(f->rank, to, from, (uint64_t)n * dtype_bytes(to_dtype));
    return code ? code : rank_synchronize(f->rank, f->rank->error);
}

/* What this rank's shard holds of a tensor, or of the rank's part of it, which goes to `to`. */
static int fill_held(ShardFill *f, uint32_t row, const TensorPart *part, const LayoutPiece *held,
                     int dtype, char *to) {
    for (int64_t done = 0; done < held->count; done += PIECE) {
        int64_t n = MIN(held->count - done, (int64_t)PIECE);
        int code = fill_piece(f, row, part, held->first + done, n, dtype,
                              to + (uint64_t)done * dtype_bytes(dtype));
        if (code) return code;
    }
    return 0;
}

/* state: the vector's, or that of another stage which has the same. */
static int fill_state(ShardFill *f, uint32_t vector, const PlanState *state) {
    const CkContents *c = &f->s->mine.c;
    const CkVector *v = &c->vector[vector];
    Layout layout = plan_saved_layout(f->rank->run->plan, state);
    if (!layout_has(&layout, &c->mesh, f->rank->rank)) return 0;
    char *shard = rank_at(f->rank, state->address);
    int64_t number = layout_number(&layout, &c->mesh, f->rank->rank);
    int64_t mine = mesh_index(&c->mesh, f->rank->rank, layout.cut);
    uint64_t width = dtype_bytes((int)v->dtype);
    for (uint32_t i = v->first; i < v->first + v->n; i++) {
        const CkTensor *t = &c->tensor[i];
        LayoutPlace place = ck_place(t);
        TensorPart part = ck_part(t, mine);
        LayoutPiece held;
        for (int64_t j = 0; (held = layout_piece(&layout, &place, number, j)).count; j++) {
            int code = fill_held(f, (uint32_t)f->s->row[i], &part, &held, (int)v->dtype,
                                 shard + (uint64_t)held.at * width);
            if (code) return code;
        }
    }
    return 0;
}

static int fill_vector(ShardFill *f, uint32_t vector) {
    const Plan *p = f->rank->run->plan;
    const PlanState *first = f->s->mine.state[vector];
    int code = fill_state(f, vector, first);
    for (uint64_t i = 0; plan_has_stages(p) && i < p->n_states && !code; i++)
        if (p->states[i].role == first->role && &p->states[i] != first &&
            plan_shared_group(p, &p->groups[p->states[i].group]) == &p->groups[first->group])
            code = fill_state(f, vector, &p->states[i]);
    return code;
}

int resume_fill(Rank *r) {
    const Resume *s = r->run->resume;
    ShardFill f = {.rank = r, .s = s};
    f.host = malloc((size_t)PIECE * sizeof(double));
    f.other = malloc((size_t)PIECE * sizeof(double));
    int code = 0;
    if (!f.host || !f.other)
        code = fail_with(r->error, EXIT_ENVIRONMENT, "no memory to read %.200s", s->folder);
    rank_writes(r, true); /* as long as the disk takes */
    if (!code) code = checkpoint_open(&f.from, s->folder, r->error);
    for (uint32_t v = 0; v < s->mine.c.n_vector && !code; v++)
        if (!s->weights_only || s->mine.c.vector[v].role == STATE_PARAM) code = fill_vector(&f, v);
    if (code == EXIT_CORRUPT) ck_advise_other_step(s->folder, r->error);
    rank_writes(r, false);
    checkpoint_close(f.from);
    free(f.host);
    free(f.other);
    return code ? code : rank_synchronize(r, r->error);
}

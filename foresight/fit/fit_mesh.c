/* Meshes: FILE's with other sizes, and the smallest one on which a model fits that fits on no
 * number of samples.
 *
 * Ranks of a node can share out the work on a sample along the axes of `inside`, so
 * all factorizations of 1, 2, 4 and so on into these axes are tried for FILE's number of ranks,
 * then for twice as many, and so on; axis dp takes what is left. An axis that passes learn to cut
 * along is a row of `inside`.
 */
#include <string.h>

#include "fit.h"

enum { MOST_DOUBLINGS = 7 };

/* Outermost first; the innermost gets the largest factor first. */
static const AxisRole inside[] = {AXIS_pp, AXIS_cp, AXIS_tp};

Mesh fit_written_axes(const Mesh *mesh) {
    Mesh m = {0};
    for (int a = 0; a < mesh->n; a++)
        if (axis_info(mesh->axis[a].role)->is_written || !m.n)
            m.axis[m.n++] = mesh->axis[a];
        else
            m.axis[m.n - 1].size *= mesh->axis[a].size;
    return m;
}

static int find_axis(const Mesh *mesh, AxisRole role) {
    int a = 0;
    while (a < mesh->n && mesh->axis[a].role != role) a++;
    return a;
}

/* Axes that cut values go to the end, where ranks are neighbours; others to the front, after that
 * of stages. */
void fit_set_axis(Mesh *mesh, AxisRole role, int64_t size) {
    int at = find_axis(mesh, role), first = 0;
    if (!axis_has_stages(role)) first = find_axis(mesh, AXIS_pp) < mesh->n;
    if (axis_cuts(role)) first = mesh->n;
    if (at == mesh->n && size == 1) return;
    if (at == mesh->n) {
        CHECK(mesh->n < MESH_AXES);
        for (int a = mesh->n++; a > first; a--) mesh->axis[a] = mesh->axis[a - 1];
        at = first;
    }
    mesh->axis[at] = (MeshAxis){role, size};
}

const char *fit_mesh_text(const Mesh *mesh, Arena *a) {
    const char *text = "";
    for (int k = 0; k < mesh->n; k++)
        text = arena_printf(a, "%s%s%s=%lld", text, k ? "," : "", axis_name(mesh->axis[k].role),
                            (long long)mesh->axis[k].size);
    return text;
}

static void add_count(const Fit *fit, FitOptions *options, const char *key, int64_t n) {
    CHECK(options->n < FIT_CHANGES);
    options->set[options->n++] = arena_printf(fit->arena, "%s=%lld", key, (long long)n);
}

void fit_add_batch(const Fit *fit, FitOptions *options, const Mesh *mesh, int64_t k) {
    const RunSettings *s = &fit->base->settings;
    int64_t batch, share = mesh_extent(mesh, mesh_sample_axes(mesh)) * s->micro_batches;
    if (__builtin_mul_overflow(k, share, &batch)) batch = INT64_MAX; /* compile refuses both */
    add_count(fit, options, "train.batch", batch);
    if (s->has_call_samples) add_count(fit, options, "train.accumulate", s->micro_batches);
}

/* A mesh of these ranks; false if axis dp would be no whole number. */
static bool size_shards(Mesh *mesh, int64_t ranks) {
    fit_set_axis(mesh, AXIS_dp, 1);
    int64_t others = mesh_ranks(mesh);
    fit_set_axis(mesh, AXIS_dp, ranks / others);
    return ranks % others == 0;
}

/* One sample needs no more micro-batches than FILE has, and logits that ranks share out have no
 * chunks. */
static bool is_for_mesh(const char *set, const Mesh *mesh) {
    bool cuts = mesh_extent(mesh, mesh_cut_axes(mesh)) > 1;
    return strncmp(set, "train.accumulate=", strlen("train.accumulate=")) &&
           (!cuts || strncmp(set, "train.loss_chunks=", strlen("train.loss_chunks=")));
}

static bool mesh_fits(Fit *fit, const FitOptions *options, Mesh mesh, int64_t ranks,
                      FitAnswer *out) {
    FitAnswer r = {.asked = true, .value = ranks};
    if (!size_shards(&mesh, ranks)) return false;
    for (int i = 0; i < options->n; i++)
        if (is_for_mesh(options->set[i], &mesh)) r.options.set[r.options.n++] = options->set[i];
    r.options.mesh = fit_mesh_text(&mesh, fit->arena);
    fit_add_batch(fit, &r.options, &mesh, 1);
    r.trial = fit_try(fit, &r.options, NULL);
    if (r.trial.fits) *out = r;
    return r.trial.fits;
}

/* Shares out `parts` over inside[axis] and those after it. */
static bool factors_fit(Fit *fit, const FitOptions *options, Mesh mesh, size_t axis, int64_t parts,
                        int64_t ranks, FitAnswer *out) {
    if (axis == ARRAY_LEN(inside)) return parts == 1 && mesh_fits(fit, options, mesh, ranks, out);
    for (int64_t size = 1; size <= parts; size *= 2) {
        fit_set_axis(&mesh, inside[axis], size);
        if (factors_fit(fit, options, mesh, axis + 1, parts / size, ranks, out)) return true;
    }
    return false;
}

FitAnswer fit_smallest_mesh(Fit *fit, const FitOptions *options) {
    FitAnswer r = {.asked = true};
    for (int n = 0; n <= MOST_DOUBLINGS; n++)
        for (int64_t parts = 1; parts <= fit->node; parts *= 2)
            if (factors_fit(fit, options, fit->axes, 0, parts, fit->ranks << n, &r)) return r;
    return r;
}

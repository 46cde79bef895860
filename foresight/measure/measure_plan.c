/* Plans of measure.fsd, which is part of this program. */
#include "emit.h"
#include "measure.h"
#include "passes.h"
#include "version.h"

static const char model_text[] =
#include "measure.inc"
    ;

const char *const measure_names[] = {
#define MEASURE(name, set, doc) #name,
#include "measure.def"
#undef MEASURE
};

static const char *const settings[] = {
#define MEASURE(name, set, doc) set,
#include "measure.def"
#undef MEASURE
};

bool measure_plan(DiagSet *ds, MeasureVariant variant, int64_t ranks, Buf *out) {
    static const PipelineOptions pipeline = {.unverified = true};
    const char *set[] = {arena_printf(ds->arena, "ranks=%lld", (long long)ranks),
                         settings[variant]};
    const CompileOptions o = {.set = set, .n_set = set[1] ? 2 : 1, .to_plan = true};
    diag_choose(ds, "no-forward-only"); /* embeddings are on purpose units of their own */
    Frontend *f = frontend_open_text(ds, "measure.fsd", model_text, sizeof model_text - 1, &o);
    bool done = f->exit_code == EXIT_DONE && frontend_elaborate(f) &&
                pipeline_run(f->graph, LEVEL_SCHED, &pipeline);
    if (done) plan_emit(f, "fsdpc " FSDPC_VERSION, "fsdpc machine", out);
    return done;
}

/* From checked settings to the policy that passes read and the settings that the plan holds.
 *
 * Sections are resolved in the order in which they depend on one another: mesh, shard, train,
 * checkpoint, offload; then settings without effect are reported. Section checkpoint is here.
 */
#include "rules.h"

/* A size limits how much is copied. */
static void resolve_snapshot(Model *m, RunSettings *s) {
    const KeyValue *set = model_setting(m, "checkpoint", "snapshot");
    bool part = set->value.kind == VALUE_BYTES;
    s->snapshot = part ? SNAPSHOT_COPY : (Snapshot)enum_of(&set->value, &words_Snapshot);
    s->most_copied = part ? (uint64_t)set->value.integer : UINT64_MAX;
    if (part && (set->value.integer < 1 || set->value.integer > MOST_COUNT))
        setting_error(m, set, "snapshot must be 1B to %lldB", (long long)MOST_COUNT);
}

static void resolve_checkpoint(Model *m, RunSettings *s) {
    static const char *const keys[] = {"every", "keep", "keep_every", "keep_best"};
    const ExprValue *path = setting_value(m, "checkpoint", "path");
    s->checkpoint = path->kind == VALUE_TEXT ? path->text : "";
    resolve_snapshot(m, s);
    s->form =
        (CheckpointForm)enum_of(setting_value(m, "checkpoint", "form"), &words_CheckpointForm);
    if (!*s->checkpoint) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            warn_idle(m, "checkpoint", keys[i], "no checkpoint.path");
        return;
    }
    s->checkpoint_every = setting_count(m, "checkpoint", "every");
    s->keep = setting_count(m, "checkpoint", "keep");
    s->keep_every = setting_count(m, "checkpoint", "keep_every");
    s->keep_best = setting_value(m, "checkpoint", "keep_best")->boolean;
    if (!s->eval_every) warn_idle(m, "checkpoint", "keep_best", "no train.eval_every");
}

void policy_resolve(Model *m, Policy *p, RunSettings *s) {
    resolve_mesh(m, p);
    resolve_shard(m, p);
    resolve_train(m, p, s);
    resolve_checkpoint(m, s);
    resolve_offload(m, p, s);
    resolve_pipeline(m, p);
    warn_idle_settings(m, p, s);
    warn_unusual_settings(m, s);
}

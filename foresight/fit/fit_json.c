/* The answers for tools: one JSON object. What a plan cannot answer is null. */
#include <string.h>

#include "fit.h"
#include "json_text.h"

static void put_trial(json_t *o, const Fit *fit, const FitTrial *t) {
    json_put(o, "fits", json_boolean(t->fits));
    if (!t->compiles) {
        json_put(o, "error", json_word(t->error));
        return;
    }
    json_put(o, "peak_bytes", json_count(t->peak));
    json_put(o, "room_bytes", json_count(fit->memory - fit->outside - t->peak));
    json_put(o, "host_bytes", json_count(t->host));
}

/* Options and what they need; null if nothing was found. */
static json_t *answer_json(const Fit *fit, const FitAnswer *r) {
    if (!r->asked || !r->trial.compiles) return json_null();
    json_t *o = json_packed("{}"), *set = json_packed("[]");
    for (int i = 0; i < r->options.n; i++) json_push(set, json_word(r->options.set[i]));
    json_put(o, "set", set);
    if (r->options.mesh) json_put(o, "mesh", json_word(r->options.mesh));
    if (r->value) json_put(o, "value", json_count((uint64_t)r->value));
    put_trial(o, fit, &r->trial);
    return o;
}

static json_t *value_json(const FitAnswer *r) {
    return r->asked ? json_count((uint64_t)r->value) : json_null();
}

static json_t *settings_json(const Fit *fit) {
    json_t *all = json_packed("[]");
    for (uint32_t i = 0; i < fit->settings.n; i++) {
        json_t *o = json_packed("{}");
        json_put(o, "set", json_word(fit->settings.at[i].set));
        put_trial(o, fit, &fit->settings.at[i].trial);
        json_push(all, o);
    }
    return all;
}

static json_t *tensors_json(const Fit *fit) {
    json_t *all = json_packed("[]");
    for (uint32_t i = 0; i < fit->n_tensor; i++) {
        const PeakTensor *t = &fit->tensor[i];
        json_t *o = json_packed("{}");
        json_put(o, "name", json_word(t->name));
        json_put(o, "category", json_word(t->category));
        json_put(o, "count", json_count(t->count));
        json_put(o, "bytes", json_count(t->bytes));
        json_put(o, "file", t->file ? json_word(t->file) : json_null());
        json_put(o, "line", t->file ? json_count(t->line) : json_null());
        json_push(all, o);
    }
    return all;
}

void fit_json(const Fit *fit, Buf *out) {
    json_t *o = json_packed("{}");
    json_put(o, "model", json_word(fit->model));
    json_put(o, "ranks", json_count((uint64_t)fit->ranks));
    json_put(o, "device", json_word(word_of(&words_DeviceKind, fit->device)));
    json_put(o, "memory_bytes", json_count(fit->memory));
    json_put(o, "outside_bytes", json_count(fit->outside));
    put_trial(o, fit, &fit->written);
    json_put(o, "most",
             json_packed("{s: o, s: o}", "samples_a_rank", value_json(&fit->samples), "length",
                         value_json(&fit->length)));
    json_put(o, "least", json_packed("{s: o}", "ranks", value_json(&fit->least_ranks)));
    json_put(o, "settings", settings_json(fit));
    json_put(o, "together", answer_json(fit, &fit->least));
    json_put(o, "mesh", answer_json(fit, &fit->mesh));
    json_put(o, "tensors", tensors_json(fit));
    json_write(o, JSON_INDENT(1) | JSON_ENSURE_ASCII, out);
}

/* The answers for tools: one JSON object. What a plan cannot answer is null. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "fit.h"

static json_t *sound(json_t *j) {
    if (!j) fail_environment("no memory for JSON");
    return j;
}

static void put(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, sound(value))) fail_environment("no memory for JSON");
}

static void push(json_t *array, json_t *value) {
    if (json_array_append_new(array, sound(value))) fail_environment("no memory for JSON");
}

static json_t *integer(uint64_t n) { return json_integer((json_int_t)n); }

/* Names are the user's bytes; JSON must be UTF-8. */
static json_t *text(const char *s) {
    Buf clean = {0};
    diag_clean(&clean, s, strlen(s));
    json_t *j = json_stringn(clean.at ? clean.at : "", clean.n);
    buf_free(&clean);
    return j;
}

static void put_trial(json_t *o, const Fit *fit, const FitTrial *t) {
    put(o, "fits", json_boolean(t->fits));
    if (!t->compiles) {
        put(o, "error", text(t->error));
        return;
    }
    put(o, "peak_bytes", integer(t->peak));
    put(o, "room_bytes", integer(fit->memory - fit->outside - t->peak));
    put(o, "host_bytes", integer(t->host));
}

/* Options and what they need; null if nothing was found. */
static json_t *answer_json(const Fit *fit, const FitAnswer *r) {
    if (!r->asked || !r->trial.compiles) return json_null();
    json_t *o = sound(json_object()), *set = sound(json_array());
    for (int i = 0; i < r->options.n; i++) push(set, text(r->options.set[i]));
    put(o, "set", set);
    if (r->options.mesh) put(o, "mesh", text(r->options.mesh));
    if (r->value) put(o, "value", integer((uint64_t)r->value));
    put_trial(o, fit, &r->trial);
    return o;
}

static json_t *value_json(const FitAnswer *r) {
    return r->asked ? integer((uint64_t)r->value) : json_null();
}

static json_t *settings_json(const Fit *fit) {
    json_t *all = sound(json_array());
    for (uint32_t i = 0; i < fit->settings.n; i++) {
        json_t *o = sound(json_object());
        put(o, "set", text(fit->settings.at[i].set));
        put_trial(o, fit, &fit->settings.at[i].trial);
        push(all, o);
    }
    return all;
}

static json_t *tensors_json(const Fit *fit) {
    json_t *all = sound(json_array());
    for (uint32_t i = 0; i < fit->n_tensor; i++) {
        const PeakTensor *t = &fit->tensor[i];
        json_t *o = sound(json_object());
        put(o, "name", text(t->name));
        put(o, "category", text(t->category));
        put(o, "count", integer(t->count));
        put(o, "bytes", integer(t->bytes));
        put(o, "file", t->file ? text(t->file) : json_null());
        put(o, "line", t->file ? integer(t->line) : json_null());
        push(all, o);
    }
    return all;
}

void fit_json(const Fit *fit, Buf *out) {
    json_t *o = sound(json_object()), *most = sound(json_object()), *least = sound(json_object());
    put(o, "model", text(fit->model));
    put(o, "ranks", integer((uint64_t)fit->ranks));
    put(o, "device", text(word_of(&words_DeviceKind, fit->device)));
    put(o, "memory_bytes", integer(fit->memory));
    put(o, "outside_bytes", integer(fit->outside));
    put_trial(o, fit, &fit->written);
    put(most, "samples_a_rank", value_json(&fit->samples));
    put(most, "length", value_json(&fit->length));
    put(least, "ranks", value_json(&fit->least_ranks));
    put(o, "most", most);
    put(o, "least", least);
    put(o, "settings", settings_json(fit));
    put(o, "together", answer_json(fit, &fit->least));
    put(o, "mesh", answer_json(fit, &fit->mesh));
    put(o, "tensors", tensors_json(fit));
    char *written = json_dumps(o, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    if (!written) fail_environment("no memory for JSON");
    buf_printf(out, "%s\n", written);
    free(written);
    json_decref(o);
}

#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "diag.h"

static json_t *made(json_t *value) {
    if (!value) fail_environment("no memory for JSON");
    return value;
}

json_t *json_packed(const char *format, ...) {
    va_list args;
    va_start(args, format);
    json_t *value = json_vpack_ex(NULL, 0, format, args);
    va_end(args);
    return made(value);
}

json_t *json_count(uint64_t n) { return made(json_integer((json_int_t)n)); }

json_t *json_word(const char *text) {
    Buf clean = {0};
    diag_clean(&clean, text, strlen(text));
    json_t *value = json_stringn(clean.n ? clean.at : "", clean.n);
    buf_free(&clean);
    return made(value);
}

void json_put(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, made(value))) fail_environment("no memory for JSON");
}

void json_push(json_t *array, json_t *value) {
    if (json_array_append_new(array, made(value))) fail_environment("no memory for JSON");
}

void json_write(json_t *value, size_t flags, Buf *out) {
    char *text = json_dumps(value, flags);
    if (!text) fail_environment("no memory for JSON");
    buf_printf(out, "%s\n", text);
    free(text);
    json_decref(value);
}

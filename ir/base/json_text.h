/* Making JSON. Every function ends the program with EXIT_ENVIRONMENT where memory is short, and
 * takes the values that it is given. */
#ifndef FSDPC_JSON_TEXT_H
#define FSDPC_JSON_TEXT_H

#include <jansson.h>

#include "util.h"

json_t *json_packed(const char *format, ...); /* as json_pack makes it */
json_t *json_count(uint64_t n);               /* an integer */
json_t *json_word(const char *text);          /* any bytes as UTF-8, as diag_clean makes them */
void json_put(json_t *object, const char *key, json_t *value);
void json_push(json_t *array, json_t *value);
void json_write(json_t *value, size_t flags, Buf *out); /* its text and a line end */

#endif

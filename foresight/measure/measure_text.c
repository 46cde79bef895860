/* A machine file: a constant a line, groups in the order of machine.def. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* Takes the value over. */
static json_t *put(json_t *object, const char *key, json_t *value) {
    if (!value || json_object_set_new(object, key, value)) fail_environment("no memory for JSON");
    return value;
}

/* The element of a list, made where ascending order wants it. */
static json_t *list_member(json_t *list, const char *key, long long number) {
    size_t i = 0;
    for (; i < json_array_size(list); i++) {
        json_t *at = json_array_get(list, i);
        long long its = json_integer_value(json_object_get(at, key));
        if (its == number) return at;
        if (its > number) break;
    }
    json_t *made = json_object();
    put(made, key, json_integer(number));
    if (json_array_insert_new(list, i, made)) fail_environment("no memory for JSON");
    return made;
}

/* products.f32.flops_s: member f32 of group products; device.cores: the group itself. */
static json_t *member_of(Arena *a, json_t *all, const char *path) {
    const char *dot = strchr(path, '.'), *last = strrchr(path, '.');
    const char *name = arena_strndup(a, path, (size_t)(dot - path));
    json_t *group = json_object_get(all, name);
    if (dot == last) return group;
    const char *member = arena_strndup(a, dot + 1, (size_t)(last - dot - 1));
    for (int i = 0; i < GROUPS; i++)
        if (machine_groups[i].kind == GROUP_LIST && !strcmp(machine_groups[i].name, name))
            return list_member(group, machine_groups[i].key, strtoll(member, NULL, 10));
    json_t *found = json_object_get(group, member);
    return found ? found : put(group, member, json_object());
}

static json_t *value_of(const MachineConstant *c) {
    if (!c->n_points) return json_real(c->value);
    json_t *points = json_array();
    for (uint32_t i = 0; i < c->n_points; i++)
        json_array_append_new(points, json_pack("[ff]", c->points[i].x, c->points[i].factor));
    return points;
}

static bool is_line(const json_t *j) {
    return json_object_get(j, "from") || !(json_is_object(j) || json_is_array(j));
}

static void put_line(const json_t *j, Buf *out) {
    char *text = json_dumps(j, JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));
    if (!text) fail_environment("no memory for JSON");
    buf_printf(out, "%s", text);
    free(text);
}

/* What is not one line begins with a line break; numbers and words stay beside it. */
static void put_text(json_t *j, int depth, Buf *out) {
    const char *key;
    json_t *item;
    size_t i;
    bool first = true;
    if (is_line(j)) {
        put_line(j, out);
        return;
    }
    buf_printf(out, json_is_array(j) ? "[" : "{");
    if (json_is_array(j)) json_array_foreach(j, i, item) {
            buf_printf(out, "%s%*s", i ? ",\n" : "\n", depth, "");
            put_text(item, depth + 1, out);
        }
    else
        json_object_foreach(j, key, item) {
            bool beside = !json_is_object(item) && !json_is_array(item);
            buf_printf(out, "%s", first ? "" : beside ? ", " : ",");
            if (!beside) buf_printf(out, "\n%*s", depth, "");
            buf_printf(out, "\"%s\": ", key);
            put_text(item, depth + 1, out);
            first = false;
        }
    buf_printf(out, json_is_array(j) ? "]" : "}");
}

void measure_text(const Measured *m, Buf *out) {
    json_t *all = json_object();
    put(all, "format", json_integer(MACHINE_FORMAT));
    put(all, "kind", json_string(word_of(&words_DeviceKind, (int)m->kind)));
    for (int i = 0; i < GROUPS; i++)
        put(all, machine_groups[i].name,
            machine_groups[i].kind == GROUP_LIST ? json_array() : json_object());
    for (uint32_t i = 0; i < m->machine->constants.n; i++) {
        const MachineConstant *c = &m->machine->constants.at[i];
        json_t *object =
            put(member_of(m->arena, all, c->path), strrchr(c->path, '.') + 1, json_object());
        put(object, "value", value_of(c));
        put(object, "from", json_string(c->from));
    }
    for (int i = 0; i < GROUPS; i++) {
        const char *name = machine_groups[i].name;
        const json_t *group = json_object_get(all, name);
        if (!json_object_size(group) && !json_array_size(group)) json_object_del(all, name);
    }
    put_text(all, 1, out);
    buf_printf(out, "\n");
    json_decref(all);
}

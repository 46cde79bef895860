/* Values of expressions: making them, testing their kind, and printing them as they could be
 * written in a model file.
 */
#include "value.h"

#include <math.h>
#include <string.h>

ExprValue value_error(Span at) { return (ExprValue){.kind = VALUE_ERROR, .span = at}; }
ExprValue value_none(Span at) { return (ExprValue){.kind = VALUE_NONE, .span = at}; }

ExprValue value_bool(Span at, bool b) {
    return (ExprValue){.kind = VALUE_BOOL, .span = at, .boolean = b};
}

ExprValue value_int(Span at, int64_t i) {
    return (ExprValue){.kind = VALUE_INT, .span = at, .integer = i};
}

ExprValue value_real(Span at, double r) {
    return (ExprValue){.kind = VALUE_REAL, .span = at, .real = r};
}

ExprValue value_word(Span at, const char *text) {
    return (ExprValue){.kind = VALUE_WORD, .span = at, .text = text};
}

const char loss_help[] = "it is a mean over the batch, which can be added to others and multiplied "
                         "by numbers; `each = true` gives the loss of each target";

void value_append(Arena *a, ExprValue *list, const char *name, ExprValue item) {
    uint32_t n = list->n_items;
    if (!(n & (n - 1))) { /* as many as there is room for */
        ExprItem *items = arena_array(a, ExprItem, n ? 2 * n : 1);
        if (n) memcpy(items, list->items, n * sizeof *items);
        list->items = items;
    }
    list->items[list->n_items++] = (ExprItem){name, arena_copy(a, &item, sizeof item)};
}

static const struct {
    const char *name;
    int takers; /* what takes it: K_* */
} kinds[] = {
    [VALUE_ERROR] = {"an error", 0},
    [VALUE_NONE] = {"none", K_NONE},
    [VALUE_BOOL] = {"a boolean", K_BOOL},
    [VALUE_INT] = {"an integer", K_INT | K_REAL},
    [VALUE_BYTES] = {"a number of bytes", K_BYTES},
    [VALUE_REAL] = {"a number", K_REAL},
    [VALUE_TEXT] = {"a string", K_TEXT},
    [VALUE_WORD] = {"a name", K_WORD},
    [VALUE_CALL] = {"a call", K_CALL},
    [VALUE_LIST] = {"a list", K_LIST},
    [VALUE_TENSOR] = {"a tensor", K_TENSOR},
    [VALUE_PARAM] = {"a parameter", K_TENSOR},
    [VALUE_LOSS] = {"a loss or metric", K_TERM},
    [VALUE_TERM] = {"a mean or sum over the batch", K_TERM},
    [VALUE_MODULE] = {"a module", 0},
    [VALUE_ARRAY] = {"an array of modules", 0},
};

const char *value_kind_name(const ExprValue *v) {
    return v->kind == VALUE_LIST && v->tuple ? "a tuple" : kinds[v->kind].name;
}

int value_takers(const ExprValue *v) { return kinds[v->kind].takers; }

bool value_is_number(const ExprValue *v) { return v->kind == VALUE_INT || v->kind == VALUE_REAL; }

bool value_is_tensor(const ExprValue *v) {
    return v->kind == VALUE_TENSOR || v->kind == VALUE_PARAM;
}

double value_number(const ExprValue *v) {
    return v->kind == VALUE_REAL ? v->real : (double)v->integer;
}

bool value_integral(const ExprValue *v, int64_t *out) {
    if (v->kind == VALUE_INT) {
        *out = v->integer;
        return true;
    }
    if (v->kind != VALUE_REAL || v->real != floor(v->real) || fabs(v->real) > 0x1p53) return false;
    *out = (int64_t)v->real;
    return true;
}

const ExprValue *value_item(const ExprValue *v, const char *name) {
    for (uint32_t i = 0; i < v->n_items; i++)
        if (v->items[i].name && !strcmp(v->items[i].name, name)) return v->items[i].value;
    return NULL;
}

static void write_value(Buf *out, const ExprValue *v);

static void write_items(Buf *out, const ExprValue *v, char open, char close) {
    buf_printf(out, "%c", open);
    for (uint32_t i = 0; i < v->n_items; i++) {
        if (i) buf_printf(out, ", ");
        if (v->items[i].name) buf_printf(out, "%s = ", v->items[i].name);
        write_value(out, v->items[i].value);
    }
    buf_printf(out, "%c", close);
}

static void write_value(Buf *out, const ExprValue *v) {
    char number[40];
    switch (v->kind) {
    case VALUE_NONE: buf_printf(out, "none"); break;
    case VALUE_BOOL: buf_printf(out, v->boolean ? "true" : "false"); break;
    case VALUE_INT: buf_printf(out, "%lld", (long long)v->integer); break;
    case VALUE_BYTES: buf_printf(out, "%lldB", (long long)v->integer); break;
    case VALUE_REAL: buf_printf(out, "%s", double_text(v->real, number)); break;
    case VALUE_TEXT: buf_printf(out, "\"%s\"", v->text); break;
    case VALUE_WORD: buf_printf(out, "%s", v->text); break;
    case VALUE_CALL:
        buf_printf(out, "%s", v->text);
        write_items(out, v, '(', ')');
        break;
    case VALUE_LIST: write_items(out, v, v->tuple ? '(' : '[', v->tuple ? ')' : ']'); break;
    default: buf_printf(out, "%s", value_kind_name(v)); break;
    }
}

const char *value_text(Arena *a, const ExprValue *v) {
    Buf out = {0};
    write_value(&out, v);
    return buf_text(a, &out);
}

const char *value_shape(Arena *a, const ExprValue *v) {
    Buf out = {0};
    buf_printf(&out, "[");
    for (int i = 0; i < v->type.rank; i++) {
        if (i) buf_printf(&out, ", ");
        if (v->dims[i])
            buf_printf(&out, "%s", v->dims[i]);
        else
            buf_printf(&out, "%lld", (long long)v->type.dim[i]);
    }
    buf_printf(&out, "]");
    return buf_text(a, &out);
}

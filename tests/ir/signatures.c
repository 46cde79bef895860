/* The answers of the compiler's signature reader, for signatures.py, which has a reader of its own.
 *
 * `signatures list`: a line for each op: name, whether its maker states the result, signature.
 * Otherwise it reads lines from standard input, in which a type is dtype,pitch,dim,dim..:
 *   infer OP type..            -> `no`, or `yes` and the types of the results, `?`: a rule gives it
 *   fits OP type.. | type..    -> `no` or `yes`
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"
#include "signature.h"

enum { MOST = 64 };

static Type type_read(char *text) {
    char *rest = NULL;
    Type t = {.dtype = (uint8_t)dtype_by_name(strtok_r(text, ",", &rest))};
    t.pitch = (uint32_t)strtoul(strtok_r(NULL, ",", &rest), NULL, 10);
    for (char *dim; (dim = strtok_r(NULL, ",", &rest)); t.rank++) t.dim[t.rank] = atoll(dim);
    return t;
}

static void type_write(const Type *t) {
    if (t->dtype == DT_NONE || t->rank > MAX_RANK) {
        printf(" ?");
        return;
    }
    printf(" %s,%u", dtype_name(t->dtype), t->pitch);
    for (int i = 0; i < t->rank; i++) printf(",%lld", (long long)t->dim[i]);
}

static void answer(char *line) {
    char *rest = NULL, *what = strtok_r(line, " ", &rest);
    OpKind op = (OpKind)op_by_name(strtok_r(NULL, " ", &rest));
    Type types[MOST];
    uint32_t n = 0, n_in = MOST;
    for (char *word; (word = strtok_r(NULL, " ", &rest));)
        if (!strcmp(word, "|"))
            n_in = n;
        else if (n < MOST)
            types[n++] = type_read(word);
    BoundSignature b;
    if (!strcmp(what, "fits")) {
        printf("%s\n", signature_fits(&b, op, n_in, types, n - n_in, types + n_in) ? "yes" : "no");
        return;
    }
    if (!signature_bind(&b, op, n, types, 0, NULL)) {
        printf("no\n");
        return;
    }
    printf("yes");
    for (uint32_t j = 0; j < b.s->n_out; j++) {
        Type t = signature_infer(&b, j);
        t.pitch = 0;
        type_write(&t);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    static char line[1 << 14];
    if (argc > 1 && !strcmp(argv[1], "list")) {
        for (int op = 0; op < OP_COUNT; op++)
            printf("%s\t%d\t%s\n", op_info[op].name, op_info[op].given, op_info[op].signature);
        return 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    return 0;
}

/* Single products and collectives against published tables: for each line of standard input,
 *
 *   product MACHINE batch m n k TFLOPS        of bf16, without the factor of sustained load
 *   collective MACHINE op ranks bytes us      of f32 in a node
 *
 * prints predicted / measured - 1. */
#include <stdio.h>
#include <string.h>

#include "step.h"

static Costs costs_for(Arena *a, DiagSet *ds, const char *file, int64_t ranks) {
    Plan *p = arena_new_of(a, Plan);
    PlanAxis *axis = arena_new_of(a, PlanAxis);
    *axis = (PlanAxis){.role = AXIS_dp, .size = ranks};
    *p = (Plan){.settings = arena_new_of(a, PlanSettings), .axes = axis, .n_axes = 1};
    p->roles = arena_new_of(a, PlanRole);
    p->n_roles = 1;
    Machine *m = machine_read(ds, a, file);
    if (!m) fail_environment("no machine");
    for (uint32_t i = 0; i < m->constants.n; i++)
        if (strstr(m->constants.at[i].path, ".sustained")) m->constants.at[i].value = 1;
    Costs c = costs_of(p, m, a);
    c.types = arena_array(a, Type, 2);
    return c;
}

static double product_error(Arena *a, DiagSet *ds, const char *line) {
    char file[4096];
    long long b, m, n, k;
    double rate;
    if (sscanf(line, "product %4095s %lld %lld %lld %lld %lf", file, &b, &m, &n, &k, &rate) != 6)
        return -1;
    Costs c = costs_for(a, ds, file, 1);
    OpProducts p = {.count = 1, .b = b, .m = m, .n = n, .k = k};
    Type type = {.dtype = DT_BF16, .rank = 1, .dim = {1}};
    double flops = 2 * (double)b * (double)m * (double)n * (double)k;
    return cost_product(&c, OP_matmul, &p, &type).seconds * rate * 1e12 / flops - 1;
}

static double collective_error(Arena *a, DiagSet *ds, const char *line) {
    char file[4096], op[32];
    long long ranks, bytes;
    double us;
    if (sscanf(line, "collective %4095s %31s %lld %lld %lf", file, op, &ranks, &bytes, &us) != 5)
        return -1;
    Costs c = costs_for(a, ds, file, ranks);
    PlanInstr in = {.op = (uint16_t)op_by_name(op), .n_in = 1, .n_out = 1, .attr.axes = 1};
    c.types[0] = c.types[1] = (Type){.dtype = DT_F32, .rank = 1, .dim = {bytes / 4}};
    return cost_collective(&c, &in, 0).seconds / (us * 1e-6) - 1;
}

int main(void) {
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        Arena *a = arena_new();
        DiagSet ds;
        diag_init(&ds, a);
        bool product = !strncmp(line, "product", 7);
        printf("%.4f\n", product ? product_error(a, &ds, line) : collective_error(a, &ds, line));
        arena_free(a);
    }
    return EXIT_DONE;
}

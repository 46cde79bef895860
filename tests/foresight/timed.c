/* foresight/step for benchmarks, which know or want the seconds of single instructions.
 *
 * timed alone PLAN: for each machine file that standard input names, prints a line with the seconds
 * of each instruction alone on that machine.
 *
 * timed step PLAN [shared]: each line of standard input has the number of an instruction and its
 * seconds; others take none. Prints the seconds of a step. Messages take no time. With `shared`,
 * collectives that run at the same time have equal parts of one link, otherwise each has its own.
 */
#include <stdio.h>
#include <string.h>

#include "step.h"

static void print_alone(DiagSet *ds, const Plan *p, const char *file) {
    Arena *a = arena_new();
    const Machine *m = machine_read(ds, a, file);
    Costs c = costs_of(p, m, a);
    double *seconds = arena_array(a, double, p->n_instrs + 1);
    for (uint64_t i = 0; m && i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            seconds[k] = cost_of(&c, &p->instrs[k], plan_stage_role(p, q->stage)).seconds;
    }
    for (uint64_t k = 0; m && c.complete && k < p->n_instrs; k++) printf("%.6g ", seconds[k]);
    printf("\n");
    arena_free(a);
}

/* A node as large as any, without time for messages. */
static const char machine[] = "{\"format\": 1, \"kind\": \"cuda\", \"links\": [{\"ranks\": 1048576,"
                              " \"start_s\": {\"value\": 0, \"from\": \"assumed\"},"
                              " \"bytes_s\": {\"value\": 1e18, \"from\": \"assumed\"}}]}";

static Occupies occupied_by(const PlanInstr *in, bool shared) {
    if (in->stream == STREAM_COMPUTE) return OCCUPIES_CORES;
    return shared ? OCCUPIES_LINK : OCCUPIES_FETCH;
}

static bool read_costs(const Plan *p, bool shared, Cost *cost) {
    char line[256];
    unsigned long instr;
    double seconds;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        cost[k].occupies = occupied_by(&p->instrs[k], shared);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%lu %lf", &instr, &seconds) != 2 || instr >= p->n_instrs) return false;
        cost[instr].seconds = seconds;
    }
    return true;
}

static int print_step(DiagSet *ds, const Plan *p, bool shared) {
    const Machine *m = machine_read_text(ds, ds->arena, "timed", machine, sizeof machine - 1);
    Costs costs = costs_of(p, m, ds->arena);
    Cost *cost = arena_array(ds->arena, Cost, p->n_instrs + 1);
    if (!read_costs(p, shared, cost)) return EXIT_USER;
    Simulation sim = {.plan = p, .machine = m, .cost = cost, .cores = 1};
    printf("%.9g\n", step_simulate(&costs, &sim, NULL, ds->arena).seconds);
    return EXIT_DONE;
}

int main(int argc, char **argv) {
    Arena *a = arena_new();
    DiagSet ds;
    Plan plan;
    char line[4096], message[ERROR_BYTES];
    int code = EXIT_DONE;
    diag_init(&ds, a);
    if (argc < 3 || plan_open(&plan, argv[2], message, sizeof message)) {
        fprintf(stderr, "timed: %s\n", argc < 3 ? "alone PLAN or step PLAN [shared]" : message);
        return EXIT_USER;
    }
    if (!strcmp(argv[1], "step"))
        code = print_step(&ds, &plan, argc > 3);
    else
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = 0;
            print_alone(&ds, &plan, line);
        }
    plan_close(&plan);
    arena_free(a);
    return code;
}

/* predict PLAN..: for each machine file that standard input names, a line with the seconds that a
 * step of each plan takes there: many machines for plans that are read once. */
#include <stdio.h>
#include <string.h>

#include "step.h"

static void predict_line(DiagSet *ds, const Plan *plans, int n, const char *file) {
    Arena *a = arena_new();
    const Machine *m = machine_read(ds, a, file);
    for (int i = 0; i < n && m; i++) {
        Step step;
        if (step_predict(&plans[i], m, a, &step))
            printf("%s%.9g", i ? " " : "", step_time(&step)->seconds);
        else
            printf("%s-", i ? " " : "");
    }
    printf("\n");
    fflush(stdout);
    arena_free(a);
}

int main(int argc, char **argv) {
    Arena *a = arena_new();
    DiagSet ds;
    char line[4096], message[ERROR_BYTES];
    Plan *plans = arena_array(a, Plan, argc);
    diag_init(&ds, a);
    for (int i = 1; i < argc; i++) {
        if (!plan_open(&plans[i - 1], argv[i], message, sizeof message)) continue;
        fprintf(stderr, "predict: %s\n", message);
        return EXIT_CORRUPT;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        predict_line(&ds, plans, argc - 1, line);
    }
    for (int i = 1; i < argc; i++) plan_close(&plans[i - 1]);
    arena_free(a);
    return EXIT_DONE;
}

/* Reads arbitrary bytes as a plan, then runs everything that takes a plan that the reader accepted.
 * Size, rules and checksum are corrected first, since otherwise only the header would ever be
 * tested. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    char message[512];
    Plan plan;
    PlanFault fault;
    char *copy = malloc(n ? n : 1); /* exactly the bytes, so that reading behind them is noticed */
    if (n) memcpy(copy, bytes, n);
    if (n >= sizeof(PlanHeader)) {
        PlanHeader *h = (PlanHeader *)copy;
        h->size = n;
        h->rules = plan_rules();
        plan_seal(copy, n);
    }
    int status = plan_read(&plan, copy, n, message, sizeof message);
    CHECK(status == 0 || status == EXIT_CORRUPT);
    if (status == 0) {
        Buf out = {0};
        status = plan_check(&plan, &fault);
        CHECK(status == 0 || status == EXIT_CORRUPT);
        bool rejected = false;
        for (int proof = 1; proof <= 9; proof++) /* none leans on another for its indices */
            rejected |= plan_check_rules(&plan, CHECK_RULE(proof), &(PlanFault){0}) != 0;
        CHECK(status == 0 ? !rejected : rejected);
        dump_plan_text(&plan, &out);
        dump_plan_view(&plan, &(ViewOptions){0}, &out);
        dump_plan_view(&plan, &(ViewOptions){.all = true}, &out);
        if (status == 0) dump_plan_json(&plan, 0, NULL, &out);
        buf_free(&out);
        plan_close(&plan);
    }
    free(copy);
    return 0;
}

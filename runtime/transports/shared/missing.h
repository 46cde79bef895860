/* The wording that transports share in errors about ranks, collectives and losses. How a transport
 * notices that a rank is missing depends on where ranks meet: in memory (meeting.h) or through
 * messages (tcp).
 */
#ifndef FSDPC_MISSING_H
#define FSDPC_MISSING_H

#include <stdio.h>

#include "transport.h"

/* host: "" if it is not known. */
static inline void missing_rank_text(int32_t rank, int32_t process, const char *host, char *out,
                                     size_t size) {
    if (*host)
        snprintf(out, size, "rank %d (process %d on %s)", rank, process, host);
    else
        snprintf(out, size, "rank %d", rank);
}

/* kind: with a space at its end, or "". */
static inline void missing_place_text(const char *label, const char *kind, uint64_t sequence,
                                      int32_t purpose, char *out, size_t size) {
    if (purpose == COMM_MESSAGES)
        snprintf(out, size, "%.170s, number %llu of its messages", label,
                 (unsigned long long)sequence);
    else
        snprintf(out, size, "%.170s, %snumber %llu of the %s among these ranks", label, kind,
                 (unsigned long long)sequence, collective_family(purpose));
}

/* Where a rank of a pipeline was, as part of a message about it; "" if that is not known. */
static inline void missing_call_text(const Plan *p, uint64_t call, char *out, size_t size) {
    uint64_t program = (call >> 32) - 1;
    *out = 0;
    if (!call || !p || program >= p->n_programs || !plan_has_stages(p)) return;
    const PlanProgram *at = &p->programs[program];
    int n = snprintf(out, size, "; it was in stage %u, ", at->stage);
    if (at->kind == PROGRAM_UPDATE || at->kind == PROGRAM_EVAL)
        snprintf(out + n, size - (size_t)n, "%s",
                 at->kind == PROGRAM_UPDATE ? "update" : "evaluation");
    else
        snprintf(out + n, size - (size_t)n, "micro-batch %u", (uint32_t)call);
}

/* How a rank is lost: writes it to `out` and returns the remedy. */
typedef enum RankLoss { LOSS_ENDED, LOSS_GONE, LOSS_INVALID, LOSS_STOPPED, LOSS_SILENT } RankLoss;
static inline const char *missing_loss_text(RankLoss loss, int32_t seconds, char *out,
                                            size_t size) {
    static const struct {
        const char *text, *remedy;
    } row[] = {{"was killed or ended without a message",
                "the kernel's log (dmesg) tells whether memory ran out; start the run again"},
               {"is gone, or its host is",
                "the kernel's log (dmesg) there tells whether memory ran out; start the run again"},
               {"sent an invalid message", "use the same fsdp-run on every machine"},
               {"has been stopped (SIGSTOP) for",
                "start the run again; kill -CONT resumes a stopped process"},
               {"did not answer within", "check that process, its host and the network between; "
                                         "FSDP_TIMEOUT=SECONDS waits longer"}};
    int n = snprintf(out, size, "%s", row[loss].text);
    if (loss >= LOSS_STOPPED)
        snprintf(out + n, size - (size_t)n, " %d s%s", seconds,
                 loss == LOSS_STOPPED ? " or longer" : "");
    return row[loss].remedy;
}

#endif

/* Messages between the stages of a pipeline.
 *
 * Each outbox has a communicator of the two ranks that it connects. On one communicator NCCL pairs
 * sends with receives in the order of issue, and that of several outboxes may differ between the
 * two ranks. A message is copied into its place in the outbox on the plan's stream; a stream of the
 * outbox's own sends it from there, so that a program ends without waiting for the receiver, which
 * may first have to get a message of this rank. The place is free again when that send is over. A
 * receive is on the plan's stream.
 *
 * A program that sends is not recorded: its places alternate.
 */
#include <stdlib.h>

#include "context.h"

struct Outbox { /* that this rank sends by */
    cudaStream_t stream;
    cudaEvent_t filled, *sent; /* sent: by place */
    int64_t places;
};

static cudaError_t open_outbox(Outbox *box, int64_t places) {
    box->sent = calloc((size_t)places, sizeof *box->sent);
    if (!box->sent) return cudaErrorMemoryAllocation;
    box->places = places;
    cudaError_t e = cudaStreamCreateWithFlags(&box->stream, cudaStreamNonBlocking);
    if (!e) e = cudaEventCreateWithFlags(&box->filled, cudaEventDisableTiming);
    for (int64_t k = 0; k < places && !e; k++)
        e = cudaEventCreateWithFlags(&box->sent[k], cudaEventDisableTiming);
    return e;
}

static void close_outbox(Outbox *box) {
    if (box->stream) cudaStreamDestroy(box->stream);
    if (box->filled) cudaEventDestroy(box->filled);
    for (int64_t k = 0; k < box->places; k++)
        if (box->sent[k]) cudaEventDestroy(box->sent[k]);
    free(box->sent);
}

int messages_open(Context *c, char *error) {
    const Plan *p = c->o.plan;
    c->box_row = calloc(p->n_states + 1, sizeof *c->box_row);
    c->outbox = calloc(p->n_states + 1, sizeof *c->outbox);
    if (!c->box_row || !c->outbox)
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    for (uint64_t k = 0; k < p->n_states; k++) {
        if (p->states[k].role != STATE_OUTBOX) continue;
        c->box_row[k] = c->rows++;
        if (!plan_has_state(p, &p->states[k], plan_role_of(p, c->o.rank))) continue;
        cudaError_t e = open_outbox(&c->outbox[k], p->states[k].type.dim[0]);
        if (e) return cuda_result(e, "transport nccl: an outbox", error);
    }
    return 0;
}

void messages_close(Context *c) {
    for (uint64_t k = 0; c->outbox && k < c->o.plan->n_states; k++) close_outbox(&c->outbox[k]);
    free(c->outbox);
    free(c->box_row);
}

/* Fills the place in the outbox on the plan's stream, and lets the outbox's own follow. */
static int fill_outbox(Context *c, const StageMessage *m, char *error) {
    Outbox *box = &c->outbox[m->box];
    cudaStream_t stream = c->o.device->native_stream(c->o.context, m->stream);
    bool again = m->sequence >= m->places;
    cudaError_t e =
        again ? cudaStreamWaitEvent(stream, box->sent[message_place(m)], 0) : cudaSuccess;
    int code = cuda_result(e, m->label, error);
    if (!code)
        code = c->o.device->copy(c->o.context, m->stream, m->slot, m->value, m->bytes, error);
    if (code) return code;
    e = cudaEventRecord(box->filled, stream);
    if (!e) e = cudaStreamWaitEvent(box->stream, box->filled, 0);
    return cuda_result(e, m->label, error);
}

int nccl_send(Context *c, const StageMessage *m, char *error) {
    Outbox *box = &c->outbox[m->box];
    cudaSetDevice(c->device);
    int code = fill_outbox(c, m, error);
    if (!code) code = nccl_pass(c, m, true, box->stream, error);
    if (code) return code;
    return cuda_result(cudaEventRecord(box->sent[message_place(m)], box->stream), m->label, error);
}

int nccl_receive(Context *c, const StageMessage *m, char *error) {
    return nccl_pass(c, m, false, c->o.device->native_stream(c->o.context, m->stream), error);
}

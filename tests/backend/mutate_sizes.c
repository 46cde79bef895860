/* The oracle's checks of sizes: values stay in their arena, and workspaces are as large as their
 * instructions may need. */
#include "mutate.h"
#include "op.h"

enum { MOST = 256 };

static const char *workspace_fault(const Plan *p, const PlanInstr *in) {
    const PlanSettings *t = p->settings;
    Type a[MOST], b[MOST];
    for (uint32_t k = 0; k < in->n_in && k < MOST; k++)
        a[k] = p->values[p->operands[in->first_in + k]].type;
    for (uint32_t k = 0; k < in->n_out && k < MOST; k++) b[k] = p->values[in->first_out + k].type;
    for (int d = 0; d < DEVICE_KINDS; d++)
        if (t->workspace_offset + (uint64_t)op_workspace((OpKind)in->op, (DeviceKind)d, &in->attr,
                                                         (int)in->n_in, a, (int)in->n_out, b) >
            t->workspace_bytes[d])
            return "a workspace does not fit";
    return NULL;
}

const char *sizes_fault(const Plan *p) {
    const char *fault = NULL;
    for (uint64_t v = 0; v < p->n_values; v++) {
        uint64_t at = p->values[v].address, room = p->settings->workspace_offset;
        if (address_is_host(at)) room = p->settings->host_bytes;
        if (address_offset(at) + plan_room(p, &p->values[v]) > room)
            return "a value reaches out of its arena";
    }
    for (uint64_t i = 0; i < p->n_instrs && !fault; i++) fault = workspace_fault(p, &p->instrs[i]);
    return fault;
}

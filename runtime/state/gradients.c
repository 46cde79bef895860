/* --dump-grads: the gradients of one step as the update sees them, before clipping.
 *
 * In that step, just before the first update instruction of a group, the rank copies its shard of
 * the group's reduced gradient to the host and multiplies it by SCALE_UNCLIPPED, which makes it the
 * gradient of the mean loss. The file is written after the step, from these copies.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "signature.h"
#include "state.h"

struct GradientDump {
    Rank *rank;
    bool armed;
    bool *taken;   /* [groups] */
    float **shard; /* [groups] of the trainable ones */
    void *raw;     /* one shard in the reduce dtype */
};

/* Number of the gradient operand of an update, or of an op that prepares one: the scale follows it;
 * 0 for other ops. */
static uint32_t gradient_operand(uint32_t op) {
    bool reads = op_info[op].role == ROLE_UPDATE || op_info[op].role == ROLE_STEP;
    int operand = reads ? signature_find(op_signature((OpKind)op), "g") : 0;
    return operand > 0 ? (uint32_t)operand : 0;
}

static int dump_before(void *of, uint32_t instr, char *error) {
    GradientDump *d = of;
    Rank *r = d->rank;
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[instr];
    uint32_t operand = gradient_operand(in->op);
    if (!d->armed || !operand || in->attr.group < 0 || d->taken[in->attr.group]) return 0;
    uint32_t group = (uint32_t)in->attr.group;
    const PlanValue *g = &p->values[p->operands[in->first_in + operand]];
    const PlanValue *s = &p->values[p->operands[in->first_in + operand + 1]];
    double scale[SCALE_SLOTS];
    const Device *device = r->run->device;
    int64_t n = MIN(type_elements(&g->type), p->groups[group].shard);
    int code = device->copy_out(r->context, in->stream, d->raw, r->arena + g->address,
                                (uint64_t)n * dtype_bytes(g->type.dtype), error);
    if (!code)
        code = device->copy_out(r->context, in->stream, scale, r->arena + s->address, sizeof scale,
                                error);
    if (!code) code = rank_synchronize(r, error);
    if (code) return code;
    FileType type = file_type_of(g->type.dtype);
    for (int64_t i = 0; i < n; i++)
        d->shard[group][i] = (float)(load_real((char *)d->raw + i * file_type_bytes(type), type) *
                                     scale[SCALE_UNCLIPPED]);
    d->taken[group] = true;
    return 0;
}

int gradient_dump_open(Rank *r, GradientDump **out) {
    const Plan *p = r->run->plan;
    GradientDump *d = *out = calloc(1, sizeof *d);
    uint64_t largest = 0;
    if (d) {
        d->rank = r;
        d->taken = calloc(p->n_groups + 1, sizeof *d->taken);
        d->shard = calloc(p->n_groups + 1, sizeof *d->shard);
    }
    bool enough = d && d->taken && d->shard;
    for (uint64_t g = 0; enough && g < p->n_groups; g++) {
        const PlanState *s = plan_find_state(p, STATE_PARAM, (int32_t)g);
        if (!(p->groups[g].flags & GROUP_TRAINABLE) || !rank_has_state(r, s)) continue;
        largest = MAX(largest, (uint64_t)p->groups[g].shard);
        d->shard[g] = calloc((size_t)p->groups[g].shard + 1, sizeof(float));
        enough = d->shard[g] != NULL;
    }
    if (enough) d->raw = malloc(largest * sizeof(double) + 1);
    if (enough && d->raw) {
        r->tap = (Tap){dump_before, d};
        return 0;
    }
    return fail_with(r->error, EXIT_ENVIRONMENT, "no memory for the gradients of --dump-grads");
}

void gradient_dump_close(GradientDump *d) {
    if (!d) return;
    for (uint64_t g = 0; d->shard && g < d->rank->run->plan->n_groups; g++) free(d->shard[g]);
    free(d->shard);
    free(d->taken);
    free(d->raw);
    free(d);
}

void gradient_dump_arm(GradientDump *d, int64_t step) {
    if (d) d->armed = step == d->rank->run->options->dump_step;
}

SaveForm gradients_form(const RunOptions *o) {
    return (SaveForm){.path = o->dump_path, .type = FT_F32, .config = ""};
}

int gradient_dump_write(GradientDump *d) {
    SaveForm form = gradients_form(d->rank->run->options);
    return gather_to_file(d->rank, d->shard, &form);
}

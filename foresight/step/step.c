/* The calls of a step, one rank a role, and what a step takes.
 *
 * Calls of a program take the same time, unless they wait: for a message of another role, or for a
 * checkpoint. Those are simulated with the times at which it is there. Roles take their calls in
 * order; a call is taken as soon as all messages that it receives were sent. Where a call has
 * collectives over roles, as the update may, it begins when the last of them is there.
 */
#include <math.h>

#include "step.h"

#include "plan_work.h"

typedef VEC(double) Times;

typedef struct RoleRun {
    const PlanCall *call, *end; /* the next one */
    int64_t repeat;             /* of it */
    double now;
    StepTime time;
} RoleRun;

typedef struct StepRun {
    const Plan *plan;
    Arena *arena;
    Simulation sim;
    Costs *costs;
    RoleRun *role;
    const CallTime **known; /* by program: of a call that waits for nothing */
    bool *meets;            /* by program: it has collectives over roles */
    double *end, *late_end; /* by instruction: of such a call, of one that waits */
    double *arrive;         /* by instruction: from the beginning of the call */
    Times *sent;            /* by state that is an outbox: when its messages arrive */
    uint32_t *received;     /* by state */
    const double *saved; /* by save: from the beginning of the step; NULL: no checkpoint is due */
    double *saved_in_call;
} StepRun;

static bool is_over(const RoleRun *role) { return role->call == role->end; }

/* ---- messages and saves */

/* Sets when the call's messages arrive, in its own time; false: not all are sent. */
static bool find_messages(StepRun *r, const RoleRun *role, bool *late) {
    const Plan *p = r->plan;
    const PlanProgram *q = &p->programs[role->call->program];
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        if (in->op != OP_receive) continue;
        const Times *sent = &r->sent[in->attr.index];
        uint32_t number = r->received[in->attr.index];
        if (number >= sent->n) return false;
        r->arrive[k] = sent->at[number] - role->now;
        *late |= r->arrive[k] > 0;
    }
    return true;
}

static void pass_messages(StepRun *r, const RoleRun *role, const double *end) {
    const Plan *p = r->plan;
    const PlanProgram *q = &p->programs[role->call->program];
    uint32_t here = (uint32_t)(role - r->role);
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        if (in->op == OP_receive) r->received[in->attr.index]++;
        if (in->op != OP_send) continue;
        double bytes = (double)type_bytes(&p->values[p->operands[in->first_in]].type);
        Cost wire =
            cost_message(r->costs, bytes, here, plan_stage_role(p, (uint32_t)in->attr.stage));
        vec_push(r->arena, &r->sent[in->attr.index], role->now + end[k] + wire.seconds);
    }
}

static void find_saves(StepRun *r, const RoleRun *role, bool *late) {
    if (!r->saved) return;
    for (uint64_t k = 0; k < r->plan->n_saves; k++) {
        r->saved_in_call[k] = r->saved[k] - role->now;
        *late |= r->saved_in_call[k] > 0;
    }
}

/* ---- calls */

static const CallTime *known_call(StepRun *r, uint32_t program) {
    if (r->known[program]) return r->known[program];
    CallTime *t = arena_new_of(r->arena, CallTime);
    r->sim.end = r->end;
    r->sim.arrive = r->sim.saved = NULL;
    *t = simulate_call(&r->sim, program);
    return r->known[program] = t;
}

static CallTime late_call(StepRun *r, uint32_t program, bool messages) {
    r->sim.end = r->late_end;
    r->sim.arrive = messages ? r->arrive : NULL;
    r->sim.saved = r->saved ? r->saved_in_call : NULL;
    return simulate_call(&r->sim, program);
}

static void take_time(RoleRun *role, const CallTime *t, double times) {
    role->now += t->seconds * times;
    role->time.computing += t->computing * times;
    role->time.exposed += t->exposed * times;
    for (int o = 0; o < ORIGINS; o++) role->time.from[o] += t->from[o] * times;
}

/* One repeat of the role's next call, or all that are alike. false: it waits for another role. */
static bool run_call(StepRun *r, RoleRun *role) {
    uint32_t program = role->call->program;
    bool stages = r->plan->n_roles > 1, late = false;
    if (stages && !find_messages(r, role, &late)) return false;
    find_saves(r, role, &late);
    CallTime t = late ? late_call(r, program, stages) : *known_call(r, program);
    int64_t times = stages || late ? 1 : role->call->times - role->repeat;
    if (stages) pass_messages(r, role, late ? r->late_end : r->end);
    take_time(role, &t, (double)times);
    role->repeat += times;
    if (role->repeat < role->call->times) return true;
    role->repeat = 0;
    role->call++;
    return true;
}

/* ---- roles */

static void skip_evaluations(RoleRun *role) {
    while (!is_over(role) && (role->call->kind != PLAN_STEP || !role->call->times)) role->call++;
}

/* All roles that are not over have come to calls in which they meet: none begins before the last.
 */
static bool meet_roles(StepRun *r) {
    double now = 0;
    for (uint64_t i = 0; i < r->plan->n_roles; i++) {
        if (!is_over(&r->role[i]) && !r->meets[r->role[i].call->program]) return false;
        now = fmax(now, r->role[i].now);
    }
    for (uint64_t i = 0; i < r->plan->n_roles; i++) {
        RoleRun *role = &r->role[i];
        if (is_over(role)) continue;
        role->now = now;
        run_call(r, role);
    }
    return true;
}

static void run_roles(StepRun *r) {
    for (bool moved = true, over = false; !over;) {
        CHECK(moved); /* check-7c: the calls wait for each other in no circle */
        moved = false;
        over = true;
        for (uint64_t i = 0; i < r->plan->n_roles; i++) {
            RoleRun *role = &r->role[i];
            skip_evaluations(role);
            while (!is_over(role) && !r->meets[role->call->program] && run_call(r, role)) {
                moved = true;
                skip_evaluations(role);
            }
            over &= is_over(role);
        }
        if (!over && !moved) moved = meet_roles(r);
    }
}

/* The step ends with the slowest role; what all roles wait is the idle share. */
static StepTime sum_roles(const StepRun *r) {
    const RoleRun *slowest = r->role;
    double busy = 0, roles = (double)r->plan->n_roles;
    for (uint64_t i = 0; i < r->plan->n_roles; i++) {
        busy += r->role[i].time.computing + r->role[i].time.exposed;
        if (r->role[i].now > slowest->now) slowest = &r->role[i];
    }
    StepTime t = slowest->time;
    t.seconds = slowest->now;
    t.idle = r->plan->n_roles > 1 ? fmax(1 - busy / (roles * t.seconds), 0) : 0;
    return t;
}

static bool has_meeting(const Plan *p, const PlanProgram *q) {
    Mesh mesh = plan_mesh(p);
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
        if (op_info[p->instrs[k].op].effect == EFFECT_COMM &&
            (AxisSet)p->instrs[k].attr.axes & mesh_stage_axes(&mesh))
            return true;
    return false;
}

static void open_roles(StepRun *r) {
    const Plan *p = r->plan;
    r->role = arena_array(r->arena, RoleRun, p->n_roles);
    for (uint64_t i = p->n_calls; i-- > 0;) {
        RoleRun *role = &r->role[p->calls[i].role]; /* calls of a role are neighbours */
        if (!role->end) role->end = &p->calls[i] + 1;
        role->call = &p->calls[i];
    }
}

StepTime step_simulate(Costs *costs, const Simulation *sim, const double *saved, Arena *a) {
    const Plan *p = costs->plan;
    StepRun r = {.plan = p, .arena = a, .sim = *sim, .costs = costs, .saved = saved};
    r.known = arena_array(a, const CallTime *, p->n_programs + 1);
    r.meets = arena_array(a, bool, p->n_programs + 1);
    r.end = arena_array(a, double, p->n_instrs + 1);
    r.late_end = arena_array(a, double, p->n_instrs + 1);
    r.arrive = arena_array(a, double, p->n_instrs + 1);
    r.sent = arena_array(a, Times, p->n_states + 1);
    r.received = arena_array(a, uint32_t, p->n_states + 1);
    r.saved_in_call = arena_array(a, double, p->n_saves + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) r.meets[i] = has_meeting(p, &p->programs[i]);
    open_roles(&r);
    run_roles(&r);
    return sum_roles(&r);
}

/* ---- a step */

static const Cost *all_costs(Costs *c, Arena *a) {
    const Plan *p = c->plan;
    Cost *cost = arena_array(a, Cost, p->n_instrs + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        if (q->kind == PROGRAM_EVAL) continue;
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            cost[k] = cost_of(c, &p->instrs[k], plan_stage_role(p, q->stage));
    }
    return cost;
}

static bool has_collectives(const Plan *p, const Cost *cost) {
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (cost[k].occupies == OCCUPIES_LINK || cost[k].occupies == OCCUPIES_FABRIC) return true;
    return false;
}

static Simulation simulation_of(Costs *c, const Cost *cost) {
    Simulation s = {.plan = c->plan, .machine = c->machine, .cost = cost};
    Origin origin;
    const MachineConstant *issue = cost_find(c, "device.issue_s");
    s.cores = cost_need(c, "device.cores", &origin);
    s.launch = cost_need(c, "device.launch_s", &s.launch_origin);
    if (issue) s.issue = issue->value;
    if (issue) s.launch_origin = origin_of(issue->from);
    if (c->machine->kind == DEVICE_CUDA && has_collectives(c->plan, cost))
        s.collective_cores = cost_need(c, "sharing.collective_cores", &origin);
    return s;
}

/* When each save, and those before it, are written, or copied; NULL: there is none, or the file
 * says nothing of it. */
static const double *save_times(Costs *c, Arena *a) {
    const Plan *p = c->plan;
    const MachineConstant *disk = cost_find(c, "disk.write_bytes_s");
    const MachineConstant *copy = cost_find(c, "copies.evict.bytes_s");
    double *times = arena_array(a, double, p->n_saves + 1), now = 0;
    if (!p->n_saves || !disk) return NULL;
    for (uint64_t k = 0; k < p->n_saves; k++) {
        if (p->saves[k].copied && !copy) return NULL;
        if (p->saves[k].copied) times[k] = now += (double)p->saves[k].bytes / copy->value;
    }
    for (uint64_t k = 0; k < p->n_saves; k++)
        if (!p->saves[k].copied) times[k] = now += (double)p->saves[k].bytes / disk->value;
    for (uint64_t k = 1; k < p->n_saves; k++) times[k] = fmax(times[k], times[k - 1]);
    return times;
}

static double peak_of(Costs *c) {
    const char *type = dtype_name(c->plan->settings->compute_dtype);
    const MachineConstant *peak =
        cost_find(c, arena_printf(c->arena, "products.%s.peak_flops_s", type));
    return peak ? peak->value * c->plan->settings->ranks : 0;
}

bool step_predict(const Plan *p, const Machine *m, Arena *a, Step *step) {
    Costs costs = costs_of(p, m, a);
    costs.overlaps = true;
    const Cost *cost = all_costs(&costs, a);
    Simulation sim = simulation_of(&costs, cost);
    *step = (Step){.plan = p, .machine = m, .overlaps = true, .held = -1};
    if (costs.complete) step->on = step_simulate(&costs, &sim, NULL, a);
    if (!costs.complete) return false;
    step->off = step->on;
    if (m->kind == DEVICE_CPU) {
        costs.overlaps = false;
        sim.cost = all_costs(&costs, a);
        sim.one_stream = true;
        step->off = step_simulate(&costs, &sim, NULL, a);
        step->overlaps = step->on.seconds < step->off.seconds;
    }
    sim.one_stream = !step->overlaps;
    if (step->overlaps) sim.cost = cost;
    const double *saved = save_times(&costs, a);
    if (saved)
        step->held = step_simulate(&costs, &sim, saved, a).seconds - step_time(step)->seconds;
    step->model_flops = plan_model_flops(p);
    step->peak_flops = peak_of(&costs);
    return true;
}

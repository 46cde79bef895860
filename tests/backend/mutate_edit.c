/* Makes a plan editable. In: a plan that was read. Out: an Edit whose instructions, values and
 * tables can be changed one by one, and the bytes of the changed plan, renumbered and with a
 * correct checksum, so that the reader accepts it.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"

uint64_t random_next(Random *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t random_below(Random *r, uint32_t n) {
    return r->still ? 0 : (uint32_t)(random_next(r) % n);
}

static void *copy_rows(Arena *a, const void *rows, size_t bytes) {
    void *out = arena_alloc(a, bytes + 16);
    if (bytes) memcpy(out, rows, bytes);
    return out;
}
#define COPY_ROWS(e, rows, n) copy_rows((e)->arena, rows, (size_t)(n) * sizeof *(rows))

Edit *edit_new(Arena *a, const Plan *p) {
    Edit *e = arena_new_of(a, Edit);
    e->arena = a;
    e->base = p;
    e->n_instr = (uint32_t)p->n_instrs;
    e->n_value = (uint32_t)p->n_values;
    e->n_program = (uint32_t)p->n_programs;
    e->n_call = (uint32_t)p->n_calls;
    e->n_role = (uint32_t)p->n_roles;
    e->instr = arena_array(a, EditInstr, e->n_instr * 2 + 64);
    e->value = arena_array(a, PlanValue, e->n_value * 2 + 64);
    memcpy(e->value, p->values, e->n_value * sizeof *e->value);
    for (uint32_t i = 0; i < e->n_instr; i++) {
        const PlanInstr *in = &p->instrs[i];
        EditInstr *at = &e->instr[i];
        *at = (EditInstr){.row = *in, .n_in = in->n_in, .n_out = in->n_out, .n_edge = in->n_edge};
        at->in = COPY_ROWS(e, p->operands + in->first_in, in->n_in);
        at->edge = COPY_ROWS(e, p->edges + in->first_edge, in->n_edge);
        at->out = arena_array(a, uint32_t, in->n_out + 1);
        for (uint32_t k = 0; k < in->n_out; k++) at->out[k] = in->first_out + k;
    }
    e->program = arena_array(a, EditProgram, e->n_program * 2);
    for (uint32_t k = 0; k < e->n_program; k++) {
        const PlanProgram *pr = &p->programs[k];
        EditProgram *at = &e->program[k];
        *at = (EditProgram){.kind = pr->kind,
                            .part = pr->part,
                            .stage = pr->stage,
                            .peak = pr->peak,
                            .n = pr->n_instr};
        at->list = arena_array(a, uint32_t, pr->n_instr + 16);
        for (uint32_t i = 0; i < pr->n_instr; i++) at->list[i] = pr->first_instr + i;
    }
    e->settings = *p->settings;
    e->param = COPY_ROWS(e, p->params, p->n_params);
    e->state = COPY_ROWS(e, p->states, p->n_states);
    e->n_save = (uint32_t)p->n_saves;
    e->save = arena_array(a, PlanSave, e->n_save + 2);
    memcpy(e->save, p->saves, e->n_save * sizeof *e->save);
    e->group = COPY_ROWS(e, p->groups, p->n_groups);
    e->call = arena_array(a, PlanCall, e->n_call * 2);
    memcpy(e->call, p->calls, e->n_call * sizeof *e->call);
    e->n_axis = (uint32_t)p->n_axes;
    e->axis = arena_array(a, PlanAxis, e->n_axis + 1);
    memcpy(e->axis, p->axes, e->n_axis * sizeof *e->axis);
    e->n_placement = (uint32_t)p->n_placements;
    e->placement = arena_array(a, Placement, e->n_placement + 1);
    if (p->n_placements) memcpy(e->placement, p->placements, e->n_placement * sizeof *e->placement);
    e->role = arena_array(a, PlanRole, MAX(p->n_roles, 2u));
    memcpy(e->role, p->roles, p->n_roles * sizeof *e->role);
    return e;
}

/* ---- changes ---- */

uint32_t edit_copy_instr(Edit *e, uint32_t instr) {
    uint32_t new = e->n_instr++;
    EditInstr *at = &e->instr[new];
    *at = e->instr[instr];
    at->in = COPY_ROWS(e, e->instr[instr].in, at->n_in);
    at->edge = COPY_ROWS(e, e->instr[instr].edge, at->n_edge);
    at->out = arena_array(e->arena, uint32_t, at->n_out + 1);
    for (uint32_t k = 0; k < at->n_out; k++) {
        e->value[e->n_value] = e->value[e->instr[instr].out[k]];
        e->value[e->n_value].def = new;
        at->out[k] = e->n_value++;
    }
    return new;
}

void edit_insert(Edit *e, uint32_t program, uint32_t at, uint32_t instr) {
    EditProgram *p = &e->program[program];
    uint32_t *list = arena_array(e->arena, uint32_t, p->n + 1);
    memcpy(list, p->list, at * sizeof *list);
    list[at] = instr;
    memcpy(list + at + 1, p->list + at, (p->n - at) * sizeof *list);
    p->list = list;
    p->n++;
}

void edit_remove(Edit *e, uint32_t program, uint32_t at) {
    EditProgram *p = &e->program[program];
    memmove(p->list + at, p->list + at + 1, (p->n - at - 1) * sizeof *p->list);
    p->n--;
}

void edit_add_edge(Edit *e, uint32_t instr, uint32_t from) {
    EditInstr *at = &e->instr[instr];
    uint32_t *edge = arena_array(e->arena, uint32_t, at->n_edge + 1);
    if (at->n_edge) memcpy(edge, at->edge, at->n_edge * sizeof *edge);
    edge[at->n_edge++] = from;
    at->edge = edge;
}

void edit_drop_edge(Edit *e, uint32_t instr, uint32_t k) {
    EditInstr *at = &e->instr[instr];
    memmove(at->edge + k, at->edge + k + 1, (at->n_edge - k - 1) * sizeof *at->edge);
    at->n_edge--;
}

void edit_replace_value(Edit *e, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t k = 0; k < e->instr[i].n_in; k++)
            if (e->instr[i].in[k] == from) e->instr[i].in[k] = to;
}

bool edit_split_roles(Edit *e) {
    if (e->settings.ranks < 2 || e->n_role != 1) return false;
    uint32_t *twin = arena_array(e->arena, uint32_t, e->n_instr);
    uint32_t n = e->n_program, n_instr = e->n_instr, n_value = e->n_value, n_call = e->n_call;
    uint32_t *of = arena_array(e->arena, uint32_t, n_value);
    for (uint32_t i = 0; i < n_instr; i++) {
        twin[i] = edit_copy_instr(e, i);
        for (uint32_t k = 0; k < e->instr[i].n_out; k++)
            of[e->instr[i].out[k]] = e->instr[twin[i]].out[k];
    }
    for (uint32_t i = 0; i < n_instr; i++) {
        EditInstr *at = &e->instr[twin[i]];
        for (uint32_t k = 0; k < at->n_in; k++) at->in[k] = of[at->in[k]];
        for (uint32_t k = 0; k < at->n_edge; k++) at->edge[k] = twin[at->edge[k]];
    }
    for (uint32_t k = 0; k < n; k++) {
        e->program[n + k] = e->program[k];
        e->program[n + k].list = COPY_ROWS(e, e->program[k].list, e->program[k].n);
        for (uint32_t i = 0; i < e->program[k].n; i++)
            e->program[n + k].list[i] = twin[e->program[k].list[i]];
    }
    for (uint32_t k = 0; k < n_call; k++) {
        e->call[n_call + k] = e->call[k];
        e->call[n_call + k].role = 1;
        e->call[n_call + k].program += n;
    }
    e->n_program = 2 * n;
    e->n_call = 2 * n_call;
    e->role[0].n_ranks = e->settings.ranks / 2;
    e->role[1] = e->role[0];
    e->role[1].first_rank = e->role[0].n_ranks;
    e->role[1].n_ranks = e->settings.ranks - e->role[0].n_ranks;
    for (uint32_t k = 0; k < n; k++) e->program[n + k].stage = 1;
    e->n_role = 2;
    return true;
}

/* ---- back to bytes ---- */

typedef struct Rows {
    Buf instrs, operands, edges, values, programs;
} Rows;

static bool write_links(const Edit *e, const EditInstr *at, const uint32_t *instr,
                        const uint32_t *value, Rows *rows) {
    for (uint32_t k = 0; k < at->n_in; k++) {
        if (value[at->in[k]] == UINT32_MAX) return false;
        buf_write(&rows->operands, &value[at->in[k]], sizeof(uint32_t));
    }
    for (uint32_t k = 0; k < at->n_edge; k++) {
        if (instr[at->edge[k]] == UINT32_MAX) return false;
        buf_write(&rows->edges, &instr[at->edge[k]], sizeof(uint32_t));
    }
    for (uint32_t k = 0; k < at->n_out; k++) {
        PlanValue v = e->value[at->out[k]];
        v.def = instr[at - e->instr];
        buf_write(&rows->values, &v, sizeof v);
    }
    return true;
}

static bool write_programs(const Edit *e, Rows *rows) {
    uint32_t *instr = arena_array(e->arena, uint32_t, e->n_instr + 1);
    uint32_t *value = arena_array(e->arena, uint32_t, e->n_value + 1), n = 0, n_value = 0;
    memset(instr, 0xff, e->n_instr * sizeof *instr);
    memset(value, 0xff, e->n_value * sizeof *value);
    for (uint32_t k = 0; k < e->n_program; k++)
        for (uint32_t i = 0; i < e->program[k].n; i++) {
            const EditInstr *at = &e->instr[e->program[k].list[i]];
            instr[e->program[k].list[i]] = n++;
            for (uint32_t j = 0; j < at->n_out; j++) value[at->out[j]] = n_value++;
        }
    for (uint32_t k = 0, first = 0; k < e->n_program; k++) {
        const EditProgram *p = &e->program[k];
        PlanProgram row = {.kind = p->kind,
                           .first_instr = first,
                           .n_instr = p->n,
                           .part = p->part,
                           .stage = p->stage,
                           .peak = p->peak};
        buf_write(&rows->programs, &row, sizeof row);
        first += p->n;
        for (uint32_t i = 0; i < p->n; i++) {
            const EditInstr *at = &e->instr[p->list[i]];
            PlanInstr in = at->row;
            in.first_in = (uint32_t)(rows->operands.n / sizeof(uint32_t));
            in.first_edge = (uint32_t)(rows->edges.n / sizeof(uint32_t));
            in.first_out = (uint32_t)(rows->values.n / sizeof(PlanValue));
            in.n_in = at->n_in;
            in.n_out = at->n_out;
            in.n_edge = at->n_edge;
            buf_write(&rows->instrs, &in, sizeof in);
            if (!write_links(e, at, instr, value, rows)) return false;
        }
    }
    return true;
}

enum {
#define SECTION(field, type, name) S_##field,
    PLAN_SECTIONS(SECTION)
#undef SECTION
        S_COUNT
};

typedef struct Table {
    const void *at;
    size_t n, element;
} Table;

static void *write_file_bytes(const Edit *e, const Table *part, size_t *size) {
    static const char zeros[16];
    PlanHeader h = *e->base->header;
    PlanSection table[S_COUNT];
    Buf out = {0};
    h.n_sections = S_COUNT;
    uint64_t at = align_up(sizeof h + sizeof table, 16);
    for (uint32_t k = 0; k < S_COUNT; k++) {
        table[k] = (PlanSection){k, (uint32_t)part[k].element, at, part[k].n};
        at = align_up(at + part[k].n * part[k].element, 16);
    }
    h.size = at;
    buf_write(&out, &h, sizeof h);
    buf_write(&out, table, sizeof table);
    for (uint32_t k = 0; k < S_COUNT; k++) {
        buf_write(&out, zeros, table[k].offset - out.n);
        if (part[k].n) buf_write(&out, part[k].at, part[k].n * part[k].element);
    }
    buf_write(&out, zeros, h.size - out.n);
    plan_seal(out.at, out.n);
    *size = out.n;
    return buf_take(&out);
}

void *edit_write(const Edit *e, size_t *size) {
    Rows rows = {0};
    void *bytes = NULL;
    if (write_programs(e, &rows)) {
        const Plan *p = e->base;
        Table part[S_COUNT] = {
#define SECTION(field, type, name) [S_##field] = {p->field, p->n_##field, sizeof(type)},
            PLAN_SECTIONS(SECTION)
#undef SECTION
        };
        part[S_settings].at = &e->settings;
        part[S_params].at = e->param;
        part[S_states].at = e->state;
        part[S_saves] = (Table){e->save, e->n_save, sizeof(PlanSave)};
        part[S_groups].at = e->group;
        part[S_calls] = (Table){e->call, e->n_call, sizeof(PlanCall)};
        part[S_axes] = (Table){e->axis, e->n_axis, sizeof(PlanAxis)};
        part[S_placements] = (Table){e->placement, e->n_placement, sizeof(Placement)};
        part[S_roles] = (Table){e->role, e->n_role, sizeof(PlanRole)};
        part[S_programs] = (Table){rows.programs.at, e->n_program, sizeof(PlanProgram)};
        part[S_values] =
            (Table){rows.values.at, rows.values.n / sizeof(PlanValue), sizeof(PlanValue)};
        part[S_instrs] =
            (Table){rows.instrs.at, rows.instrs.n / sizeof(PlanInstr), sizeof(PlanInstr)};
        part[S_operands] = (Table){rows.operands.at, rows.operands.n / 4, 4};
        part[S_edges] = (Table){rows.edges.at, rows.edges.n / 4, 4};
        bytes = write_file_bytes(e, part, size);
    }
    buf_free(&rows.instrs);
    buf_free(&rows.operands);
    buf_free(&rows.edges);
    buf_free(&rows.values);
    buf_free(&rows.programs);
    return bytes;
}

int edit_check(const Edit *e, uint32_t rules, PlanFault *fault) {
    Plan p;
    size_t size;
    void *bytes = edit_write(e, &size);
    *fault = (PlanFault){.rule = "reader"};
    int status =
        bytes ? plan_read(&p, bytes, size, fault->message, sizeof fault->message) : EXIT_CORRUPT;
    if (!status) status = plan_check_rules(&p, rules, fault);
    free(bytes);
    return status;
}

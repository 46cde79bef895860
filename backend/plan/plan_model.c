/* The reader's part for the model that a plan has to compute: its programs share out the nodes, its
 * nodes the values, the operands and the words, in order; an operand is made before it is read, in
 * the same program; an op has as many operands and results as its signature says; rows of tables
 * exist. What a node's operands and attributes may be besides does not matter: the checker compares
 * them with those of instructions, and nothing runs them.
 */
#include <string.h>

#include "facts.h"
#include "plan_reader.h"
#include "signature.h"

/* The table that attribute `index` of an op is a row of. */
static uint64_t rows_of(const Plan *p, uint16_t op) {
    switch ((OpRows)op_info[op].rows) {
    case ROWS_PARAMS: return p->n_params;
    case ROWS_STATES: return p->n_states;
    case ROWS_FIELDS: return p->n_fields;
    case ROWS_NONE:
    case ROWS_UNITS:
    case ROWS_GROUPS:
    case ROWS_FORMULAS:
    case ROWS_OF_OP: break;
    }
    return UINT64_MAX;
}

static void read_node(Reading *r, const PlanNode *n, uint64_t i, uint32_t first_value) {
    const Plan *p = r->p;
    FAIL_IF(n->op >= OP_COUNT || !(op_info[n->op].levels & L_MODEL) || n->rank > MAX_RANK,
            "op %llu of the model is unknown", (Llu)i);
    const OpInfo *o = &op_info[n->op];
    const Signature *s = op_signature((OpKind)n->op);
    FAIL_IF(n->n_in < s->in_min || (s->in_max != MANY && n->n_in > s->in_max),
            "op %llu of the model: %s does not have %u operands", (Llu)i, o->name, n->n_in);
    FAIL_IF(n->n_out < s->out_min || n->n_out > s->out_max, /* MANY is a limit: no table is */
            "op %llu of the model: %s does not have %u results", (Llu)i, o->name, n->n_out);
    FAIL_IF(
        n->n_in > p->n_node_operands - n->first_in || n->n_word > p->n_node_words - n->first_word ||
            n->n_word != (uint32_t)__builtin_popcountll(o->attrs) + n->rank,
        "op %llu of the model: its operands or attributes are not the next ones of their tables",
        (Llu)i);
    FAIL_IF(n->path >= p->n_strings || n->file >= p->n_files,
            "op %llu of the model has no position in the source", (Llu)i);
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t v = p->node_operands[n->first_in + k];
        FAIL_IF(v < first_value || v >= n->first_out,
                "op %llu of the model reads value %u, which no earlier op makes", (Llu)i, v);
    }
    FAIL_IF(rows_of(p, n->op) != UINT64_MAX && p->node_words[n->first_word] >= rows_of(p, n->op),
            "op %llu of the model names a row that does not exist", (Llu)i);
}

static void read_facts(Reading *r) {
    const Plan *p = r->p;
    for (uint64_t i = 0; i < p->n_facts; i++) {
        const PlanFact *f = &p->facts[i];
        FAIL_IF(f->name >= p->n_strings || f->kind >= FACT_KINDS,
                "fact %llu of the model has no name or an unknown kind", (Llu)i);
        FAIL_IF(f->kind == FACT_TEXT && f->value >= p->n_strings,
                "fact %llu of the model has a text outside the plan's strings", (Llu)i);
    }
}

void plan_read_model(Reading *r) {
    const Plan *p = r->p;
    read_facts(r);
    uint64_t node = 0, in = 0, word = 0, value = 0;
    FAIL_IF(p->n_model_programs < 1 || p->n_model_programs > 2, "the model has %llu programs",
            (Llu)p->n_model_programs);
    for (uint64_t k = 0; k < p->n_model_programs; k++) {
        const PlanModelProgram *m = &p->model_programs[k];
        FAIL_IF(m->kind != (k ? PROGRAM_EVAL : PROGRAM_TRAIN) || m->pad || m->first_node != node ||
                    m->n_node > p->n_nodes - node,
                "program %llu of the model is out of order", (Llu)k);
        uint32_t first_value = (uint32_t)value;
        for (uint64_t end = node + m->n_node; node < end; node++) {
            const PlanNode *n = &p->nodes[node];
            FAIL_IF(n->first_in != in || n->first_word != word || n->first_out != value,
                    "op %llu of the model does not follow the one before it", (Llu)node);
            read_node(r, n, node, first_value);
            in += n->n_in;
            word += n->n_word;
            value += n->n_out;
            FAIL_IF(value >= UINT32_MAX, "the model has too many values");
        }
    }
    FAIL_IF(node != p->n_nodes || in != p->n_node_operands || word != p->n_node_words,
            "some ops of the model belong to no program");
}

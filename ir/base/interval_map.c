/* Treap of disjoint segments; see interval_map.h. Priorities come from a fixed xorshift sequence,
 * so that runs repeat. Depth is logarithmic with overwhelming probability, and recursion follows
 * it. */
#include "interval_map.h"

#include <stdlib.h>

void interval_map_free(IntervalMap *m) {
    free(m->node);
    *m = (IntervalMap){0};
}

static uint32_t new_node(IntervalMap *m, uint64_t from, uint64_t to, uint32_t value) {
    if (m->n + 1 >= m->capacity) {
        uint32_t capacity = m->capacity ? m->capacity * 2 : 256;
        m->node = realloc(m->node, capacity * sizeof *m->node);
        if (!m->node) fail_environment("out of memory");
        m->capacity = capacity;
    }
    if (!m->random) m->random = 2463534242u;
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    m->node[++m->n] = (IntervalNode){from, to, value, m->random, 0, 0};
    return m->n;
}

static uint32_t merge_trees(IntervalMap *m, uint32_t a, uint32_t b) {
    if (!a || !b) return a ? a : b;
    if (m->node[a].priority > m->node[b].priority) {
        m->node[a].right = merge_trees(m, m->node[a].right, b);
        return a;
    }
    m->node[b].left = merge_trees(m, a, m->node[b].left);
    return b;
}

/* Cuts the tree into segments below `at` and the others; a segment across it is cut in two. */
static void cut_tree(IntervalMap *m, uint32_t t, uint64_t at, uint32_t *low, uint32_t *high) {
    if (!t) {
        *low = *high = 0;
        return;
    }
    IntervalNode *n = &m->node[t];
    uint32_t l, h;
    if (n->to <= at) {
        cut_tree(m, n->right, at, &l, &h);
        m->node[t].right = l;
        *low = t;
        *high = h;
    } else if (n->from >= at) {
        cut_tree(m, n->left, at, &l, &h);
        m->node[t].left = h;
        *low = l;
        *high = t;
    } else {
        uint64_t to = n->to;
        uint32_t right = n->right, value = n->value;
        uint32_t tail = new_node(m, at, to, value);
        m->node[t].to = at;
        m->node[t].right = 0;
        *low = t;
        *high = merge_trees(m, tail, right);
    }
}

static int visit_all(const IntervalMap *m, uint32_t t, IntervalVisit visit, void *context) {
    if (!t) return 0;
    int status = visit_all(m, m->node[t].left, visit, context);
    if (!status) status = visit(context, m->node[t].from, m->node[t].to, m->node[t].value);
    if (!status) status = visit_all(m, m->node[t].right, visit, context);
    return status;
}

int interval_map_replace(IntervalMap *m, uint64_t from, uint64_t to, uint32_t value,
                         IntervalVisit visit, void *context) {
    uint32_t low, middle, high, rest;
    cut_tree(m, m->root, from, &low, &rest);
    cut_tree(m, rest, to, &middle, &high);
    uint32_t node = new_node(m, from, to, value);
    int status = visit_all(m, middle, visit, context);
    m->root = merge_trees(m, merge_trees(m, low, node), high);
    return status;
}

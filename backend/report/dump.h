/* What the files dump_*.c share; no other file includes this header.
 *
 * The human view of a plan (dump_view.c) is made from five parts: the head (dump_head.c), the calls
 * of a pipeline (dump_calls.c) and, for each program, its units (dump_units.c), a picture of its
 * memory (dump_strip.c) and its instructions (dump_rows.c, dump_fold.c). All of them use the
 * lifetimes and names, which are computed once.
 */
#ifndef FSDPC_DUMP_H
#define FSDPC_DUMP_H

#include "ir.h"
#include "plan_work.h"
#include "report.h"

typedef unsigned long long Llu;

/* Does the state hold all of its group's gathered parameters, not the part of a rank? */
static inline bool holds_all(const Plan *p, const PlanState *s) {
    return s->type.dim[0] == p->groups[s->group].padded;
}

/* ---- dump_sent.c: what a rank sends in a step */

typedef struct SentBytes {
    uint64_t n[OP_COUNT], by_op[OP_COUNT]; /* collectives, and their bytes */
    uint64_t by_axes[1 << MESH_AXES];      /* by the set of the axes that users write */
    uint64_t gathered_once;                /* of the gathers, the first one of each unit */
} SentBytes;

SentBytes *sent_bytes(const Plan *p, Arena *a);
const char *sent_axes_name(const Plan *p, AxisSet axes, Arena *a); /* "dp tp" */
/* In words, by axes where there are several. */
const char *sent_text(const Plan *p, Arena *a);

/* ---- dump_lives.c: what holds memory, and when */

/* CATEGORY(id, key in JSON, words, mark in the picture). Where values of two categories hold the
 * same byte, the first category counts. */
#define CATEGORIES(CATEGORY)                                                                       \
    CATEGORY(GRADIENTS, "gradients", "gradients", 'g')                                             \
    CATEGORY(GATHERED, "gathered_parameters", "gathered parameters", 'W')                          \
    CATEGORY(COMMUNICATION, "communication", "communication", 'c')                                 \
    CATEGORY(ACTIVATIONS, "activations", "activations", 'a')                                       \
    CATEGORY(PARAMETERS, "parameters", "parameters", 'P')                                          \
    CATEGORY(OPTIMIZER, "optimizer", "optimizer", 'O')                                             \
    CATEGORY(BATCH, "batch", "batch", 'b')                                                         \
    CATEGORY(OTHER, "other", "loss and step", 's')

typedef enum Category {
#define CATEGORY(id, key, words, mark) HOLDS_##id,
    CATEGORIES(CATEGORY)
#undef CATEGORY
        CATEGORY_COUNT
} Category;

typedef struct CategoryInfo {
    const char *key, *words;
    char mark;
} CategoryInfo;
extern const CategoryInfo category_info[CATEGORY_COUNT];

/* A value's memory is held from instruction `first` to instruction `last`. A view has no memory of
 * its own; a value inside a pack holds the pack's memory from the moment it is written. By
 * value. */
typedef struct Lives {
    const Plan *p;
    uint64_t *first, *last;
    uint8_t *category; /* Category, or CATEGORY_COUNT if it has no memory of its own */
} Lives;

Lives lives_of(const Plan *p, Arena *a);
/* What holds device memory of the ranks that run a program: states, slots of kept activations,
 * values. */
typedef struct Holder {
    uint64_t at, bytes;
    uint64_t first, last; /* instructions */
    Category category;
    int64_t state, value; /* which of them it is; NO_INDEX: none, so that of both it is the slots */
    uint64_t counts;      /* lives_at: bytes that no other one counts */
} Holder;
typedef VEC(Holder) Holders;
Holders lives_holders(const Lives *l, const PlanProgram *program, Arena *a);
/* The same of the program of instruction `instr`, with the bytes held while it runs; each byte
 * counts once. */
Holders lives_at(const Lives *l, uint64_t instr, Arena *a);
/* Adds those at the peak, by category. */
void lives_peak_bytes(const Lives *l, uint64_t bytes[CATEGORY_COUNT]);
/* The instruction with the most live bytes of all programs; the first of several. */
uint64_t lives_peak(const Plan *p);
/* What the arena holds at the peak: the categories and the unused bytes between them, largest
 * first. The sum is the size of the arena. */
typedef struct LivesPart {
    const char *words;
    uint64_t bytes;
} LivesPart;
enum { LIVES_PARTS = CATEGORY_COUNT + 1 };
void lives_parts(const Lives *l, LivesPart parts[LIVES_PARTS]);
/* Bytes of each category that a rank keeps in host memory, of the ranks that keep most there:
 * states, and gradients that wait for the update. */
void lives_in_host(const Plan *p, uint64_t bytes[CATEGORY_COUNT]);

/* ---- dump_sent.c: what saves cost, for people */
const char *saves_text(const Plan *p, Arena *a);

/* dump_peak.c: the object predicted_peak_bytes of the JSON. */
struct json_t *dump_peak_json(const Plan *p);

/* ---- the human view */

enum { VIEW_WIDTH = 120 };

typedef struct View {
    const Plan *p;
    Arena *a;
    Lives lives;
    ViewOptions options;
    const char **name; /* by value: see dump_names.c */
    Buf *out;
    uint64_t found; /* units and instructions that --only asks for */
} View;

static inline const char *view_text(const View *v, PlanString s) { return plan_string(v->p, s); }

/* dump_names.c */
void view_names(View *v);
/* A name as it appears under the heading of a layer, in a line about the module `path`: without the
 * layer ("attn" for h.3.attn), and without the path in front of a name inside it (".weight"). */
const char *view_short(const char *name, const char *layer, const char *path);
const char *view_unit(const View *v, int64_t unit); /* its path; the root is "(root)" */
/* Whether the instruction casts a single parameter rather than a unit's shard. */
bool view_casts_parameter(const Plan *p, const PlanInstr *in);
/* The path up to its first number ("h.3" of h.3.attn), or "" if it has none. */
const char *view_layer(const View *v, const char *path);
/* Whether the instruction does nothing at run time (a view, or the entry or exit of a persistent
 * buffer); such instructions are folded into others. */
bool view_silent(const PlanInstr *in);
/* Whether --only selects the path of a unit or module, or a path above it. */
bool view_wanted(const View *v, const char *path);

/* Prints a line; a long one is continued, indented, on the next line after a comma or semicolon. */
void view_line(View *v, const char *line, int indent);
/* dump_head.c, dump_calls.c, dump_units.c, dump_strip.c, dump_rows.c */
void view_head(View *v);
void view_calls(View *v);
void view_units(View *v, const PlanProgram *program);
void view_strip(View *v, const PlanProgram *program);
void view_rows(View *v, const PlanProgram *program);
/* dump_units.c: the group whose gradient is operand k of the reduction, or NO_INDEX. */
int32_t view_reduced_group(const Plan *p, const PlanInstr *in, uint32_t k);

/* dump_rows.c -> dump_fold.c: rows in order, cut into segments. A segment holds the instructions of
 * one layer in one phase. */
typedef struct ViewRow {
    uint64_t instr;
    const char *text;    /* what the row's own stream shows */
    const char *made;    /* size of its results */
    const char *formula; /* of a `fused` instruction, or NULL */
    uint32_t segment;
    uint32_t awaited[STREAM_KINDS]; /* 1 + the instruction of that stream that it waits for */
    uint8_t in_flight;              /* by stream: an instruction issued there is still running */
} ViewRow;
typedef struct ViewSegment {
    const char *layer; /* "h.3", or "" */
    uint32_t first, n; /* rows */
    uint8_t phase;
    double flops;
    uint64_t hash; /* of its rows without the layer's number */
    uint32_t like; /* the segment that it repeats, or its own number */
} ViewSegment;
typedef struct ViewRows {
    VEC(ViewRow) rows;
    VEC(ViewSegment) segments;
} ViewRows;

/* dump_formula.c: the formula of a `fused` instruction as it appears under the heading of a layer;
 * NULL for other instructions. */
const char *view_formula(const View *v, const PlanInstr *in, const char *layer);

/* dump_fold.c: finds repeated segments and sets `like`. */
void view_fold(const View *v, ViewRows *r);

#endif

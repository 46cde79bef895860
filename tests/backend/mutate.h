/* The parts of the mutator. mutate.c plants faults in good plans and counts which proof catches
 * them:
 *
 *   mutate_plans.c   good plans: models of the repository compiled in this process
 *   mutate_edit.c    makes a plan editable and turns it back into bytes that plan_read accepts
 *   mutate_pick.c    chooses places in a plan, and makes dependent changes
 *   mutate_faults.c, mutate_sums.c, mutate_certain.c   the faults
 *   mutate_casts.c   faults of rounding
 *   mutate_saves.c   faults of saves, and of the tables that describe a plan's files
 *   mutate_cuts.c    faults of plans in which ranks share out samples, for mutate_cut.c
 *   mutate_run.c     trains plans, for mutate_cut.c and mutate_words.c
 *   mutate_oracle.c  runs a plan with tokens for values in many legal orders; shares nothing with
 *                    the checker; mutate_follow.c knows what each op computes from its operands
 */
#ifndef FSDPC_TESTS_MUTATE_H
#define FSDPC_TESTS_MUTATE_H

#include "plan.h"
#include "util.h"

/* 1 for the first moment of a group, 2 for its second one, .. 0: no moment. */
static inline uint8_t moment_number(uint32_t role) {
    return role < STATE_MOMENT1 || role > STATE_MOMENT4 ? 0 : (uint8_t)(role - STATE_MOMENT1 + 1);
}

/* A sequence of numbers that depends on its start alone; zeros if `still`, so that pick finds the
 * last place that fits. */
typedef struct Random {
    uint64_t state;
    bool still;
} Random;
uint64_t random_next(Random *r);
uint32_t random_below(Random *r, uint32_t n); /* n > 0 */

/* mutate_plans.c; with all that is made of it until good_end */
typedef struct GoodPlan {
    const char *name; /* for messages */
    Arena *arena;
    void *bytes;
    size_t size;
    Plan plan;
} GoodPlan;
/* Compiles models/MODEL.fsd of the repository, or the path MODEL.fsd if it names a folder. */
GoodPlan good_plan(const char *model, int64_t ranks, const char *const *settings);
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* The same without the passes that fuse, for one rank. */
GoodPlan unfused_plan(const char *model, const char *const *settings);
void good_end(GoodPlan *g);
/* Writes the small data files that models name into the working directory. */
void good_data(void);
/* Compiles every case, after good_data. */
uint32_t good_plans(Arena *a, GoodPlan **out);
/* One of them; false: there is none of that name. */
bool good_plan_named(const char *name, GoodPlan *out);
/* A model under any policy; its name is how fsdpc compiles it. */
GoodPlan random_plan(Random *r);

/* mutate_edit.c: instructions and values are named by what they were in the base plan; new ones get
 * higher numbers. */
typedef struct EditInstr {
    PlanInstr row; /* its ranges are not used */
    uint32_t *in, *out, *edge;
    uint32_t n_in, n_out, n_edge;
} EditInstr;
typedef struct EditProgram {
    uint32_t kind;
    uint16_t part, stage;
    uint64_t peak;
    uint32_t *list, n; /* instructions in issue order */
} EditProgram;
typedef struct Edit {
    Arena *arena;
    const Plan *base;
    EditInstr *instr;
    uint32_t n_instr;
    PlanValue *value; /* def is the EditInstr's number */
    uint32_t n_value;
    EditProgram *program;
    uint32_t n_program;
    /* copies of the base's tables */
    PlanSettings settings;
    PlanParam *param;
    PlanState *state;
    PlanSave *save;
    uint32_t n_save;
    PlanGroup *group;
    PlanCall *call;
    uint32_t n_call;
    PlanRole *role;
    uint32_t n_role;
    PlanAxis *axis; /* with room for one more */
    uint32_t n_axis;
    Placement *placement; /* with room for one more */
    uint32_t n_placement;
} Edit;
Edit *edit_new(Arena *a, const Plan *base);
/* Bytes of the plan in malloc'ed memory, aligned; NULL when an operand or edge names what is gone.
 */
void *edit_write(const Edit *e, size_t *size);
/* What those proofs say of it, or the reader, under the rule `reader`; 0: they accept it. */
int edit_check(const Edit *e, uint32_t rules, PlanFault *fault);
uint32_t edit_copy_instr(Edit *e, uint32_t instr); /* a twin with new results, listed nowhere */
void edit_insert(Edit *e, uint32_t program, uint32_t at, uint32_t instr);
void edit_remove(Edit *e, uint32_t program, uint32_t at);
void edit_add_edge(Edit *e, uint32_t instr, uint32_t from);
void edit_drop_edge(Edit *e, uint32_t instr, uint32_t k);
void edit_replace_value(Edit *e, uint32_t from, uint32_t to); /* in all operands */
/* Two roles with the same programs, each half of the ranks; needs two ranks. */
bool edit_split_roles(Edit *e);

/* mutate_pick.c */
typedef struct EditPlace {
    uint32_t program, at, instr; /* instr is listed there */
} EditPlace;
typedef bool Fits(const Edit *e, uint32_t instr);
/* Any instruction in the lists that fits; false if there is none. */
bool pick(const Edit *e, Random *r, Fits *fits, EditPlace *out);
bool pick_op(const Edit *e, Random *r, uint16_t op, EditPlace *out);
bool is_pack(const Edit *e, uint32_t instr); /* or a copy_in */
/* Any other one of the same op and program whose operands and results have the same types. */
bool pick_alike(const Edit *e, Random *r, EditPlace of, EditPlace *out);
uint32_t edit_def(const Edit *e, uint32_t value); /* the instruction that makes it */
uint32_t edit_place(const Edit *e, uint32_t program, uint32_t instr); /* UINT32_MAX: not listed */
uint32_t edit_root(const Edit *e, uint32_t value);
uint64_t edit_bytes(const Edit *e, uint32_t value);
uint64_t edit_room(const Edit *e, uint32_t value); /* the same, of all slots where it is in one */
bool edit_same_type(const Edit *e, uint32_t a, uint32_t b);
bool edit_reads(const Edit *e, uint32_t instr, uint32_t root); /* directly or through a view */
/* Does what is listed at place `later` wait for what is listed at `earlier`, whatever the path? */
bool edit_depends(const Edit *e, uint32_t program, uint32_t earlier, uint32_t later);
void edit_move(Edit *e, uint32_t program, uint32_t from, uint32_t to);
void edit_repair_edges(Edit *e); /* drops those that point forward or to their own stream */
void edit_repair_peaks(Edit *e); /* sizes follow the addresses */
void edit_shift(Edit *e, uint32_t value, uint64_t address); /* with its views */
/* Nothing but its own users cares where this value lies. */
bool edit_is_loose(const Edit *e, uint32_t value);

typedef struct Fault {
    const char *name;
    int proof;                                       /* that it is aimed at */
    int tries;                                       /* per good plan */
    bool (*plant)(Edit *e, Random *r, EditPlace at); /* false: this plan has no place for it */
    Fits *at;                                        /* where: at any instruction that fits .. */
    uint16_t op; /* .. or is of this op; neither is given: `plant` chooses */
} Fault;
/* FAULT(name) { .. } is what plants one. */
#define FAULT(name)                                                                                \
    static bool name(Edit *e, __attribute__((unused)) Random *r,                                   \
                     __attribute__((unused)) EditPlace at)
/* mutate_pick.c; false: this plan has no place for it. */
bool fault_plant(const Fault *f, Edit *e, Random *r);
/* mutate_faults.c: proofs 1, 2, 3. mutate_sums.c: proofs 4, 5, 6, 7. */
extern const Fault order_faults[], sum_faults[];
extern const uint32_t n_order_faults, n_sum_faults;
/* mutate_sizes.c, mutate_certain.c, mutate_copies.c, mutate_model.c, mutate_casts.c (proof 8),
 * mutate_saves.c (proof 9): those that do harm wherever they are planted, seen by the oracle or
 * not. */
extern const Fault size_faults[], certain_faults[], copy_faults[], model_faults[], cast_faults[],
    save_faults[];
extern const uint32_t n_size_faults, n_certain_faults, n_copy_faults, n_model_faults, n_cast_faults,
    n_save_faults;

/* mutate_casts.c. The reader gets the operand through a cast to another dtype, or a pair
 * there and back; so do all readers of a value; so does whoever reads what the value stands for, in
 * all programs. false: nobody reads it, it is not a float, or too narrow. */
bool edit_cast(Edit *e, uint32_t program, uint32_t reader, uint32_t operand, bool pair);
bool edit_cast_for_all(Edit *e, uint32_t value, bool pair);
bool edit_cast_everywhere(Edit *e, uint32_t value, bool pair);
/* mutate_sizes.c */
const char *sizes_fault(const Plan *p); /* NULL: each value and workspace is where it may be */
const char *saves_fault(const Plan *p); /* NULL: each byte of each state is in a file once */

/* mutate_cuts.c, mostly proof 10 */
extern const Fault cut_faults[];
extern const uint32_t n_cut_faults;

/* mutate_run.c: the data that models name besides those of good_data. */
void run_data(void);
void put_file(const char *name, const void *bytes, size_t size);
/* Trains NAME.bin for two steps; what it printed of them and saved is in NAME.log and
 * NAME.safetensors. Returns its exit code. */
int run_plan(const char *fsdp_run, const char *name);
bool run_trains_alike(void); /* the plans `good` and `changed`, to the bit */

/* mutate_oracle.c: NULL when `runs` runs of a step and an evaluation did what they must, or what
 * went wrong first. */
const char *oracle_run(const Plan *p, uint32_t runs, Random *r);

#endif

/* What operands and results of cases consist of. */
#ifndef FSDPC_CASE_TYPES_H
#define FSDPC_CASE_TYPES_H

#define IN(number, fill, ...)                                                                      \
    { OUT(number, __VA_ARGS__), FILL_##fill }
#define OUT(number, ...)                                                                           \
    {                                                                                              \
        .dtype = number, .rank = RANK(__VA_ARGS__), .dim = { __VA_ARGS__ }                         \
    }
#define RANK(...) (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

#define MIX DT_BF16 /* see CaseOperand */
#define NORMAL(...) IN(MIX, NORMAL, __VA_ARGS__)
#define STEP IN(DT_F64, STEP, STEP_SLOTS)
#define SCALE IN(DT_F64, SCALE, SCALE_SLOTS)
#define WORDS OUT(DT_I64, EXACT_WORDS)
#define PITCHED(p, ...)                                                                            \
    {                                                                                              \
        .dtype = MIX, .rank = RANK(__VA_ARGS__), .pitch = p, .dim = { __VA_ARGS__ }                \
    }
#define F32(...) OUT(DT_F32, __VA_ARGS__)
#define REAL(...) OUT(MIX, __VA_ARGS__)

#define OPENED(...) __VA_ARGS__
#define COUNT(type, ...) ((int)(sizeof((type[]){__VA_ARGS__}) / sizeof(type)))
#define REF(name) .reference = ref_##name
/* A case: its op and title, its operands and results, each list in brackets, and what else it has.
 * MADE: one without operands. */
#define MADE(o, about, results, ...)                                                               \
    {                                                                                              \
        .op = OP_##o, .title = about, .n_out = COUNT(Type, OPENED results),                        \
        .out = {OPENED results}, __VA_ARGS__                                                       \
    }
#define CASE(o, about, operands, results, ...)                                                     \
    MADE(o, about, results, .n_in = COUNT(CaseOperand, OPENED operands), .in = {OPENED operands},  \
         __VA_ARGS__)

#endif

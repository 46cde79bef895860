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

#endif

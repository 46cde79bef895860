/* Evaluates a formula (formula.h) on the operands of a launch, into its results. */
#ifndef FSDPC_CPU_EVALUATE_H
#define FSDPC_CPU_EVALUATE_H

#include "formula.h"
#include "kernel.h"

/* formula.c. The operands broadcast to the results, which have one shape. */
int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step);
/* The formula of one step, of the launch's operands in order. */
int CPU_NAME(step)(const Launch *l, Scalar function);

#endif

/* Evaluates a formula (formula.h) on the operands of a launch, into its results. */
#ifndef FSDPC_CUDA_EVALUATE_H
#define FSDPC_CUDA_EVALUATE_H

#include "formula.h"
#include "kernel.h"

/* formula.cu. The operands broadcast to the results, which have one shape. */
int cuda_evaluate(const Launch *l, uint32_t n_step, const FormulaStep *step);
/* The formula of one step, of the launch's operands in order. */
int cuda_step(const Launch *l, Scalar function);

#endif

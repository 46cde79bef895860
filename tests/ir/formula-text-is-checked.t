# RUN: while read -r line; do { echo graph train; echo "$line"; } | %fsdpc opt --pass=precision - 2>&1 | grep -E '^error' | sed -n 1p; done < lines
# An argument, a function, a result or a number that does not exist is rejected in the text of a formula.
==== lines
formula 0 operands 13: f32 exp(x0) -> y0
formula 0 operands 1: f32 exp(x1) -> y0
formula 0 operands 1: f32 exp(t0) -> y0
formula 0 operands 1: f32 expo(x0) -> y0
formula 0 operands 1: f32 add(x0) -> y0
formula 0 operands 1: f32 exp(x0)
formula 0 operands 1: i32 exp(x0) -> y0
formula 0 operands 1: f32 exp(x0) -> y1
formula 0 operands 1: f32 exp(x0) -> y0; f32 exp(t0) -> y0
formula 0 operands 1: f32 scale(x0, inf) -> y0
formula 0 operands 0: f32 constant(1) -> y0
formula 1 operands 1: f32 exp(x0) -> y0
==== out
error[E0520]: at most 12 operands
error[E0520]: unexpected `x1`
error[E0520]: unexpected `t0`
error[E0520]: unknown function `expo`
error[E0520]: expected `,`
error[E0521]: graph-5: formula 0: too many operands, steps or results, or none
error[E0521]: graph-5: formula 0: the value of a step is not a float
error[E0521]: graph-5: formula 0: a result is not a step
error[E0521]: graph-5: formula 0: two steps are the same result
error[E0521]: graph-5: formula 0: the number of a step is out of range
error[E0521]: graph-5: formula 0: too many operands, steps or results, or none
error[E0520]: this is row 0, not 1
==== exit 1

# RUN: while IFS='|' read -r formula x; do sed "s/FORMULA/$formula/; s/USE/$x/" graph > g; %fsdpc opt --pass= g 2>&1 | grep -E '^error|#3'; done < lines; true
# A formula must move parts that the axis has, use all parts of a split, cut a single axis, and give moves as many numbers as they read.
==== graph
graph shard
mesh dp = 1
FORMULA
program train
  #0 %0: f32[2, 6] = fill {alpha = 1} !forward -
  #1 %1: f32[2, 3] = fill {alpha = 1} !forward -
  #2 %2: f32[2, 3, 2] = fill {alpha = 1} !forward -
  #3 %3: USE {index = 0} !forward -
end
==== lines
formula 0 operands 2: f32 slice(x0, 1, 3, 3); f32 add(t0, x1) -> y0|f32[2, 3] = fused(%0, %1)
formula 0 operands 2: f32 slice(x0, 1, 4, 3); f32 add(t0, x1) -> y0|f32[2, 3] = fused(%0, %1)
formula 0 operands 2: f32 slice(x0, 2, 0, 3); f32 add(t0, x1) -> y0|f32[2, 3] = fused(%0, %1)
formula 0 operands 1: f32 slice_grad(x0, 1, 3, 3, 6) -> y0|f32[2, 6] = fused(%1)
formula 0 operands 1: f32 slice_grad(x0, 1, 4, 3, 6) -> y0|f32[2, 6] = fused(%1)
formula 0 operands 1: f32 split(x0, 2, 0, 2) -> y0; f32 split(x0, 2, 1, 2)|f32[2, 3] = fused(%2)
formula 0 operands 1: f32 split(x0, 2, 1, 2) -> y0; f32 split(x0, 2, 0, 2)|f32[2, 3] = fused(%2)
formula 0 operands 1: f32 split(x0, 2, 0, 2) -> y0|f32[2, 3] = fused(%2)
formula 0 operands 1: f32 split(x0, 1, 0, 2) -> y0; f32 split(x0, 1, 1, 2)|f32[2, 2] = fused(%2)
formula 0 operands 2: f32 concat(x0, x1, 1) -> y0|f32[2, 9] = fused(%0, %1)
formula 0 operands 2: f32 concat(x0, x1, 0) -> y0|f32[4, 6] = fused(%0, %1)
formula 0 operands 2: f32 stack(x0, x1, 1) -> y0|f32[2, 2, 6] = fused(%0, %1)
formula 0 operands 2: f32 slice(x0, 1, 0, 3); f32 concat(t0, x1, 0) -> y0|f32[4, 3] = fused(%0, %1)
formula 0 operands 1: f32 slice(x0, 1, 0, 3); f32 expand(t0) -> y0|f32[2, 3] = fused(%0)
formula 0 operands 1: f32 slice(x0, 1, 0, 3); f32 max(t0) -> y0|f32[2, 1] = fused(%0)
formula 0 operands 1: f32 slice_grad(x0, 0, 0, 2, 4000000000); f32 slice_grad(t0, 1, 0, 6, 4000000000) -> y0|f32[2, 3] = fused(%0)
==== out
  #3 %3: f32[2, 3] = fused(%0, %1) {index = 0} !forward -
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
  #3 %3: f32[2, 6] = fused(%1) {index = 0} !forward -
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
  #3 %3: f32[2, 3] = fused(%2) {index = 0} !forward -
error[E0521]: graph-5: formula 0: a split has not all of its parts
error[E0521]: graph-5: formula 0: a split has not all of its parts
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
  #3 %3: f32[2, 9] = fused(%0, %1) {index = 0} !forward -
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
error[E0521]: graph-3: program train, #3 fused: formula 0: its parts are not pieces of one axis, or there are too many
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
error[E0521]: graph-3: program train, #3 fused: formula 0: the shapes of its operands do not match
error[E0521]: graph-3: program train, #3 fused: formula 0: the value of a step is too large

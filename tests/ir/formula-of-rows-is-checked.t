# RUN: while IFS='|' read -r formula x; do sed "s/FORMULA/$formula/; s/USE/$x/" graph > g; %fsdpc opt --pass= g 2>&1 | grep -E '^error|#3'; done < lines; true
# A formula must not reduce numbers or use rows as numbers, and its rows must not be too long.
==== graph
graph shard
mesh dp = 1
FORMULA
program train
  #0 %0: f32[2, 40] = fill {alpha = 1} !forward -
  #1 %1: f32[2, 1] = fill {alpha = 1} !forward -
  #2 %2: f32[9000] = fill {alpha = 1} !forward -
  #3 %3: USE {index = 0} !forward -
end
==== lines
formula 0 operands 1: f32 mean(x0) -> y0|f32[2, 1] = fused(%0)
formula 0 operands 2: f32 mul(x0, x1); f32 sum_to(x1) -> y0|f32[2, 1] = fused(%0, %1)
formula 0 operands 1: f32 mean_grad(x0) -> y0|f32[2, 40] = fused(%0)
formula 0 operands 2: f32 extreme_grad(x1, x0, x1) -> y0|f32[2, 40] = fused(%0, %1)
formula 0 operands 2: f32 extreme_grad(x0, x0, x1) -> y0|f32[2, 40] = fused(%0, %1)
formula 0 operands 1: f32 max(x0) -> y0|f32[1] = fused(%2)
formula 0 operands 1: f32 max(x0) -> y0|f32[1] = fused(%1)
==== out
  #3 %3: f32[2, 1] = fused(%0) {index = 0} !forward -
error[E0521]: graph-3: program train, #3 fused: formula 0: a step takes a row for a number, or a number for a row
error[E0521]: graph-3: program train, #3 fused: formula 0: a step takes a row for a number, or a number for a row
  #3 %3: f32[2, 40] = fused(%0, %1) {index = 0} !forward -
error[E0521]: graph-3: program train, #3 fused: formula 0: a step takes a row for a number, or a number for a row
error[E0521]: graph-3: program train, #3 fused: formula 0: its rows are too short or too long
error[E0521]: graph-3: program train, #3 fused: formula 0: its rows are too short or too long

# RUN: %fsdpc opt --pass= graph
# Two ops of the same types have different formulas: that the first one fits says nothing of the second.
==== graph
graph shard
mesh dp = 1
formula 0 operands 1: f32 relu(x0) -> y0
formula 1 operands 1: f32 mean(x0) -> y0
program train
  #0 %0: f32[2, 40] = fill {alpha = 1} !forward -
  #1 %1: f32[2, 40] = fused(%0) {index = 0} !forward -
  #2 %2: f32[2, 40] = fused(%0) {index = 1} !forward -
end
==== err
error[E0521]: graph-3: program train, #2 fused: result 0 must be f32[2, 1], not f32[2, 40]
  = help: counts and types of operands and results follow the op's signature

==== exit 1

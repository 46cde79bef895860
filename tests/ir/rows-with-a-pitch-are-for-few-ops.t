# RUN: %fsdpc opt --pass= %s
# Rows with a pitch are read and written by the ops that know of it, and by views of whole rows.
==== in.graph
graph train
module 0 "" Net
param 0 "x" module 0 f32[2, 3] ones key "x" compute bf16 reduce f32
param 1 "w" module 0 f32[5, 3] ones key "w" compute bf16 reduce f32
state 0 step "step" f64[16]
program train
  #0 %0: bf16[2, 3] = param {index = 0} !forward -
  #1 %1: bf16[5, 3] = param {index = 1} !forward -
  #2 %2: bf16[2, 5:8] = linear(%0, %1) !forward -
  #3 %3: bf16[2, 5] = relu(%2) !forward -
  #4 %4: bf16[2, 5:8] = relu(%3) !forward -
  #5 %5: bf16[1, 2, 5:9] = reshape(%2) !forward -
  #6 %6: bf16[5, 2:8] = reshape(%2) !forward -
  #7 %7: bf16[2, 3] = linear_grad_input(%2, %1) !backward -
end
program eval
end
==== err
error[E0521]: graph-3: program train, #3 relu: x must be dense, not bf16[2, 5:8]
  = help: counts and types of operands and results follow the op's signature

error[E0521]: graph-3: program train, #4 relu: result y must be bf16[2, 5], not bf16[2, 5:8]
  = help: counts and types of operands and results follow the op's signature

error[E0521]: graph-3: program train, #5 reshape: the rows of bf16[2, 5:8] and bf16[1, 2, 5:9] have different pitches
  = help: counts and types of operands and results follow the op's signature

==== exit 1

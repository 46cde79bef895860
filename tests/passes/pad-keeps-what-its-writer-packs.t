# RUN: %fsdpc opt --pass=pad %s | grep '#2\|#3'
# A result gets a pitch only from an op that writes rows with gaps; that nobody reads it otherwise is not enough.
==== in.graph
graph train
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "x" module 0 f32[2, 5] ones key "x" compute bf16 reduce f32 frozen
param 1 "w" module 0 f32[515, 5] ones key "w" compute bf16 reduce f32 frozen
program train
  #0 %0: bf16[2, 5] = param {index = 0} !forward -
  #1 %1: bf16[515, 5] = param {index = 1} !forward -
  #2 %2: bf16[2, 515] = linear(%0, %1) !forward "head"
  #3 %3: bf16[2, 515] = relu(%2) !forward -
end
==== out
  #2 %2: bf16[2, 515] = linear(%0, %1) !forward "head"
  #3 %3: bf16[2, 515] = relu(%2) !forward -

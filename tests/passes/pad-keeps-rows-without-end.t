# RUN: %fsdpc opt --pass=pad %s | grep linear
# A row whose padded width is more than a pitch can hold stays as it is.
==== in.graph
graph train
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "x" module 0 f32[1, 1] ones key "x" compute bf16 reduce f32 frozen
param 1 "w" module 0 f32[4294967297, 1] ones key "w" compute bf16 reduce f32 frozen
program train
  #0 %0: bf16[1, 1] = param {index = 0} !forward -
  #1 %1: bf16[4294967297, 1] = param {index = 1} !forward -
  #2 %2: bf16[1, 4294967297] = linear(%0, %1) !forward "head"
end
==== out
  #2 %2: bf16[1, 4294967297] = linear(%0, %1) !forward "head"

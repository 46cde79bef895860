# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #"
# A result as large as what its operand is a part of does not take that memory.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
program eval
  #0 %0: bf16[128] = fill {alpha = 1} !forward -
  #1 %1: f32[64] = fill {alpha = 1} !forward -
  #2 %2: bf16[64] = view(%0) {offset = 0} !forward -
  #3 %3: f32[64] = add(%1, %2) !forward -
  #4 %4: f32[64] = mul(%3, %1) !forward -
end
==== out
  #0 %0: bf16[128] @0 = fill {alpha = 1} !forward -
  #1 %1: f32[64] @256 = fill {alpha = 1} !forward -
  #2 %2: bf16[64] @0 = view(%0) {offset = 0} !forward -
  #3 %3: f32[64] @512 = add(%1, %2) !forward -
  #4 %4: f32[64] @512 = mul(%3, %1) !forward -

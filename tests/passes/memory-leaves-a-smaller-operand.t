# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #\|^program\|^arena"
# A broadcast operand is too small for the result; the other one is read later.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
program eval
  #0 %0: f32[3, 64] = fill {alpha = 1} !forward -
  #1 %1: f32[64] = fill {alpha = 2} !forward -
  #2 %2: f32[3, 64] = add(%0, %1) !forward -
  #3 %3: f32[3, 64] = mul(%0, %2) !forward -
end
==== out
arena persistent 0 bytes 1792 workspace cpu 0 cuda 0
program eval peak 1792
  #0 %0: f32[3, 64] @0 = fill {alpha = 1} !forward -
  #1 %1: f32[64] @1536 = fill {alpha = 2} !forward -
  #2 %2: f32[3, 64] @768 = add(%0, %1) !forward -
  #3 %3: f32[3, 64] @0 = mul(%0, %2) !forward -

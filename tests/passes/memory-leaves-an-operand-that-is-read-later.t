# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #\|^program\|^arena"
# What somebody still reads is not written over.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
program eval
  #0 %0: f32[3, 64] = fill {alpha = 1} !forward -
  #1 %1: f32[3, 64] = relu(%0) !forward -
  #2 %2: f32[3, 64] = add(%0, %1) !forward -
  #3 %3: f32[3, 64] = mul(%1, %2) !forward -
end
==== out
arena persistent 0 bytes 1536 workspace cpu 0 cuda 0
program eval peak 1536
  #0 %0: f32[3, 64] @0 = fill {alpha = 1} !forward -
  #1 %1: f32[3, 64] @768 = relu(%0) !forward -
  #2 %2: f32[3, 64] @0 = add(%0, %1) !forward -
  #3 %3: f32[3, 64] @768 = mul(%1, %2) !forward -

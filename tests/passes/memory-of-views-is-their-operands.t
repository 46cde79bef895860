# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #\|^program\|^arena"
# A view lies inside its operand and keeps it from being used again.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
program eval
  #0 %0: f32[4, 64] = fill {alpha = 1} !forward -
  #1 %1: f32[256] = reshape(%0) !forward -
  #2 %2: f32[64] = view(%1) {offset = 512} !forward -
  #3 %3: f32[64] = fill {alpha = 3} !forward -
  #4 %4: f32[64] = mul(%3, %2) !forward -
end
==== out
arena persistent 0 bytes 1280 workspace cpu 0 cuda 0
program eval peak 1280
  #0 %0: f32[4, 64] @0 = fill {alpha = 1} !forward -
  #1 %1: f32[256] @0 = reshape(%0) !forward -
  #2 %2: f32[64] @512 = view(%1) {offset = 512} !forward -
  #3 %3: f32[64] @1024 = fill {alpha = 3} !forward -
  #4 %4: f32[64] @1024 = mul(%3, %2) !forward -

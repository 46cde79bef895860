# RUN: %fsdpc opt --pass=memory %s | grep -a "^  #\|^program\|^arena"
# Memory of a value that is over is given out again, and only then.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
program eval
  #0 %0: f32[128] = fill {alpha = 1} !forward -
  #1 %1: bf16[128] = cast(%0) !forward -
  #2 %2: f32[128] = cast(%1) !forward -
  #3 %3: bf16[128] = cast(%2) !forward -
  #4 %4: f32[128] = cast(%3) !forward -
end
==== out
arena persistent 0 bytes 768 workspace cpu 0 cuda 0
program eval peak 768
  #0 %0: f32[128] @0 = fill {alpha = 1} !forward -
  #1 %1: bf16[128] @512 = cast(%0) !forward -
  #2 %2: f32[128] @0 = cast(%1) !forward -
  #3 %3: bf16[128] @512 = cast(%2) !forward -
  #4 %4: f32[128] @0 = cast(%3) !forward -

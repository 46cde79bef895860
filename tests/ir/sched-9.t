# RUN: for edges in '' 'wait(#2)' 'wait(#3)'; do sed "s/EDGES/$edges/" graph.txt | %fsdpc opt --pass= - > /dev/null; echo "$edges $?"; done
# sched-9: a gather waits for the work on stream compute that is issued before it; a view is not work.
==== graph.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[3] zeros
param 1 "b" module 0 f32[5] zeros
state 0 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0, 1@3 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[4] = state {index = 0} !forward unit 0 -
  #1 %1: f32[3] = fill {alpha = 1} !forward -
  #2 %2: f32[3] = relu(%1) !forward -
  #3 %3: f32[3, 1] = reshape(%2) !forward -
  #4 [gather] EDGES %4: f32[8] = unshard(%0) {axes = (dp), unit = 0} !forward unit 0 -
  #5 wait(#4) %5: f32[3] = view(%4) {offset = 0} !forward unit 0 -
  #6 %6: f32[3] = relu(%5) !forward -
end
==== out
 1
wait(#2) 0
wait(#3) 0
==== err
error[E0521]: sched-9: program eval, #4 unshard: need not wait for #2 relu
  = help: a gather or a fetch waits for the work on stream compute that is issued before it


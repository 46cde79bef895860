# RUN: %fsdpc opt --pass= %s
# sched-4: edges ascend and name earlier ops of other streams.
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
  #0 %0: f32[4] = state {index = 0} !forward -
  #1 [gather] wait(#3) %1: f32[8] = unshard(%0) {axes = (dp), unit = 0} !forward unit 0 -
  #2 wait(#0) %2: f32[3] = view(%1) {offset = 0} !forward unit 0 -
  #3 [reduce] wait(#2, #1) %3: f32[3] = relu(%2) !forward -
end
==== err
error[E0521]: sched-4: program eval, #1 unshard: edge 0 does not name an earlier op of the program
  = help: edges ascend and name earlier ops of other streams of the same program

error[E0521]: sched-4: program eval, #2 view: waits for #0 of its own stream
  = help: edges ascend and name earlier ops of other streams of the same program

error[E0521]: sched-4: program eval, #3 relu: waits for #1 after #2
  = help: edges ascend and name earlier ops of other streams of the same program

==== exit 1

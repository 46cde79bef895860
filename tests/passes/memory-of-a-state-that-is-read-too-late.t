# RUN: %fsdpc opt --pass=memory %s
# A state that is read after its set_state has no place for both values: an error, with the op's number.
==== in.txt
graph sched
mesh dp = 2
policy align = 0
module 0 "" M
param 0 "a" module 0 f32[8] zeros
state 0 step "step" f64[16]
state 1 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[4] = state {index = 1} !forward unit 0 -
  #1 %1: f32[4] = relu(%0) !forward unit 0 -
  #2 set_state(%1) {index = 1} !forward unit 0 -
  #3 %2: f32[4] = add(%0, %1) !forward unit 0 -
end
==== err
error[E0407]: program eval, #2 set_state: no place in memory suits all users of an operand
  = help: is a state read after its set_state, or set twice?

==== exit 1

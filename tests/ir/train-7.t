# RUN: %fsdpc opt --pass= %s
# train-7: the loss that scales an update is one that a metric keeps before it.
==== graph.txt
graph shard
state 0 step "step" f64[16]
state 1 metric "loss" i64[24]
program train
  #0 %0: f64[16] = state {index = 0} !update -
  #1 %1: i64[24] = state {index = 1} !update -
  #2 %2: i64[24] = metric_add(%1, %1) !update -
  #3 %3: f64[8] = step_scale(%2, %1, %0) {exponent = 0, on_nan = stop, clip = 0} !update -
  #4 set_state(%2) {index = 1} !update -
end
==== err
error[E0521]: train-7: program train, #3 step_scale: no metric keeps its loss before it
  = help: the loss that scales the update is kept in a metric before it, until pass comm

==== exit 1

# RUN: %fsdpc opt --pass= %s
# graph-10: streams and edges are of level sched.
==== graph.txt
graph train
program train
  #0 [gather] %0: f32[2] = fill {alpha = 0} !forward -
  #1 wait(#0) %1: f32[2] = relu(%0) !forward -
end
==== err
error[E0521]: graph-10: program train, #0 fill: has a stream or waits at level train
  = help: only level sched has streams and edges

error[E0521]: graph-10: program train, #1 relu: has a stream or waits at level train
  = help: only level sched has streams and edges

==== exit 1

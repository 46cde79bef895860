# RUN: %fsdpc opt --pass= %s
# train-4: forward, then backward, then update.
==== graph.txt
graph train
program train
  #0 %0: f32[3] = fill {alpha = 1} !backward -
  #1 %1: f32[3] = relu(%0) !forward -
end
==== err
error[E0521]: train-4: program train, #1 relu: has phase forward but follows phase backward
  = help: forward comes before backward, backward before update

==== exit 1

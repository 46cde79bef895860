# RUN: %fsdpc opt --pass= %s
# A broken rule is reported where the op comes from in the model file.
==== graph.txt
graph train
file 1 "gpt2.fsd" 00112233aabbccdd
program train
  #0 %0: f32[2] = fill {alpha = 1} !forward -
  #1 %1: bf16[2] = cast(%0) !forward "h.0" 1:21:3-21:9
end
==== err
error[E0521]: graph-2: program train, #1 cast of h.0: is not allowed at level train
  --> gpt2.fsd:21:3
   |
   = help: an op belongs to the level of the graph

==== exit 1

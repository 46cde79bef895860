# RUN: %fsdpc opt --pass= %s
# graph-2: casts belong to level shard.
==== graph.txt
graph train
program train
  #0 %0: f32[2] = fill {alpha = 1} !forward -
  #1 %1: bf16[2] = cast(%0) !forward "h.0"
end
==== err
error[E0521]: graph-2: program train, #1 cast of h.0: is not allowed at level train
  = help: an op belongs to the level of the graph

==== exit 1

# RUN: %fsdpc opt --pass= %s
# model-1: before level shard there are no programs of micro-batches.
==== graph.txt
graph model
program first
end
==== err
error[E0521]: model-1: a program of micro-batches at level model
  = help: before level shard the programs are train and eval

==== exit 1

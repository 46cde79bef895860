# RUN: %fsdpc opt --pass= %s
# shard-8: first and last come together, and instead of train.
==== graph.txt
graph comm
program train
end
program first
end
==== err
error[E0521]: shard-8: there is train, first
  = help: a step is program train, or first and last with micro between them

==== exit 1

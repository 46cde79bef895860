# RUN: %fsdpc opt --pass=zzzzzzzz x.txt
# A name that is like no pass lists them.
==== err
error[E0505]: there is no pass `zzzzzzzz`
  = help: passes: fuse, grad, precision, pad, optimizer, wrap, shard, comm, schedule, memory, edges

==== exit 1

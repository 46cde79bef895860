# RUN: %fsdpc opt --pass=zzzzzzzz x.txt
# A name that is like no pass lists them.
==== err
error[E0505]: there is no pass `zzzzzzzz`
  = help: passes: cut, fuse_packed_attention, fuse_gelu, grad, recompute, place, fuse_backward, precision, stage, pad, fuse_norm, fuse_loss, wrap, reshard, fuse_elementwise, shard, optimizer, comm, fuse_sums, divide, schedule, memory, edges

==== exit 1

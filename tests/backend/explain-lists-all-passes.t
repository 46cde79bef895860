# RUN: %fsdpc explain E0407
# The list of passes comes from the table of passes.
==== out
E0407: passes out of order

`fsdpc opt` runs the passes that it is given, and some of them need the result of an
earlier pass:
    fsdpc opt --pass=wrap,comm graph.txt
List the passes in the order of the pipeline, each at most once:
    cut, fuse_packed_attention, fuse_gelu, grad, recompute, place, fuse_backward,
    precision, stage, pad, fuse_norm, fuse_loss, wrap, reshard, fuse_elementwise, shard,
    optimizer, comm, fuse_sums, divide, schedule, memory, edges
Here shard and optimizer were missing:
    fsdpc opt --pass=wrap,shard,optimizer,comm graph.txt

# RUN: %fsdpc help op.dropout; %fsdpc help op.cross_entropy; %fsdpc help ops | grep '^linear '
# Ops of graphs and plans have help from their table: signature, levels, attributes with ranges.
==== out
dropout: zero with probability p, else x / (1 - p); its own gradient

  x[B, ...] step:step -> y[B, ...]

levels: model train shard comm sched
attributes:
  salt          integer, at least 0: number of this random op in the model
  shared        false or true: it has no samples: all ranks and micro-batches drop the same
  p             real from 0 to below 1: probability of dropping an element
cross_entropy: sum and count of -log softmax(logits)[target] + z lse^2 over targets that are not ignored

  logits[..., V:] targets:i32(V)[...] -> loss:exact lse:f32[...]

levels: model train shard comm sched
attributes:
  ignore        integer from -2147483648 to 2147483647: the target that does not count
  z             real, at least 0: weight of the squared log-sum-exp in the loss
linear                   x[..., D] w[O, D] b[O]? -> y[..., O:]

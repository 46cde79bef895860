# RUN: %fsdpc help train.batch
# help explains a key.
==== out
  batch            samples a step, over all ranks and micro-batches
    takes an integer

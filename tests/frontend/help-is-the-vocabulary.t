# RUN: %fsdpc help train.schedule; %fsdpc help shard.align; %fsdpc help data
# Keys, values, arguments, defaults and unsupported features come from one table.
==== out
train.schedule (key of train)

    schedule = a call or none; default constant()

  learning rate over the steps

  values
    constant                        warm-up, then lr
    cosine                          warm-up, then half a cosine down to final * lr
    linear                          warm-up, then a line down to final * lr
    rsqrt                           warm-up, then lr * sqrt(warmup / step)
    wsd                             warm-up, lr, at the end a line down to final * lr

  example
    schedule = cosine(warmup = 5, final = 0.1)
shard.align (key of shard)

    align = bytes or none; default 16B

  alignment of each parameter in a flat unit: 16B or none

  example
    align = none
data: where samples come from

  data.train            samples that the model is trained on
  data.val              samples for evaluation, never shuffled
  data.length           tokens per sample (not for npy)
  data.order            order of the training samples [shuffle]

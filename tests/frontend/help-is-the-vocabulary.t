# RUN: %fsdpc help train.schedule; %fsdpc help shard.align; %fsdpc help data
# Keys, values, arguments, defaults and what is not in this version come from one table.
==== out
  schedule         learning rate over the steps [constant()]
    takes a call or none
    constant(warmup: int = 0)
        warm-up, then lr
    cosine(warmup: int = 0, final: real = 0.0)
        warm-up, then half a cosine down to final * lr
    linear(warmup: int = 0, final: real = 0.0)
        warm-up, then a line down to final * lr
    rsqrt
        warm-up, then 1 / sqrt(step) (not in this version)
    wsd
        warm-up, plateau, decay (not in this version)
  align            start of each parameter in a flat unit: 16B or none [16B]
    takes bytes or none
data: where samples come from
  train            samples that the model is trained on
  val              samples that evaluation reads, never shuffled
  length           tokens a sample (not for npy)
  order            order of the training samples [shuffle]

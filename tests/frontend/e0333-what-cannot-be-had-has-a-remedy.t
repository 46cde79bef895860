# RUN: %fsdpc dump --stage=config --deepspeed c.json m.fsd
# A part of the optimizer on the host and sums in int8 are refused with what to do instead.
==== m.fsd
shard { }
==== c.json
{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5},
  "zero_quantized_gradients": true}}
==== err
error[E0333]: fsdpc does not support zero_optimization.offload_optimizer.ratio = 0.5
 --> c.json:1:75
  |
1 | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5},
  |                                                                           ^^^^^^^
  |
  = help: either all of it is offloaded or none: write 1.0

error[E0333]: fsdpc does not support zero_optimization.zero_quantized_gradients = true
 --> c.json:2:3
  |
2 |   "zero_quantized_gradients": true}}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: sums are not quantized; precision = bf16(reduce = bf16) in the model file sends them in 16 bits

==== exit 1

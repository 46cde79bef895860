# RUN: %fsdpc dump --stage=config --deepspeed c.json m.fsd
# A part of the optimizer on the host and int8 gathers are refused with what to do instead.
==== m.fsd
shard { }
==== c.json
{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5},
  "zero_quantized_weights": true}}
==== err
error[E0333]: zero_optimization.offload_optimizer.ratio = 0.5 cannot be had here
 --> c.json:1:75
  |
1 | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.5},
  |                                                                           ^^^^^^^
  |
  = help: all of it is offloaded, or none: write 1.0

error[E0333]: zero_optimization.zero_quantized_weights = true cannot be had here
 --> c.json:2:3
  |
2 |   "zero_quantized_weights": true}}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: nothing is sent as int8; shard.gather = f8e4m3 sends weights as bytes, and precision = bf16(reduce = bf16) sums as halves

==== exit 1

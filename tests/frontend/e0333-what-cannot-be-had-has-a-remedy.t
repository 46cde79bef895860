# RUN: %fsdpc dump --stage=config --deepspeed c.json m.fsd
# Offload and int8 gathers are refused with what to do instead.
==== m.fsd
shard { }
==== c.json
{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"},
  "zero_quantized_weights": true}}
==== err
error[E0333]: zero_optimization.offload_optimizer.device = cpu cannot be had here
 --> c.json:1:58
  |
1 | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"},
  |                                                          ^^^^^^^^
  |
  = help: nothing is offloaded in this version; use more ranks, or an optimizer with less state

error[E0333]: zero_optimization.zero_quantized_weights = true cannot be had here
 --> c.json:2:3
  |
2 |   "zero_quantized_weights": true}}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: gathers and sums are not quantized; precision = bf16(reduce = bf16) halves what is sent

==== exit 1

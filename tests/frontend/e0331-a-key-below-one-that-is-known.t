# RUN: %fsdpc dump --stage=config --deepspeed c.json m.fsd
# What is said of all keys of a section that is off does not make one known in a section that is on.
==== m.fsd
shard { }
==== c.json
{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memry": true},
                       "offload_param": {"device": "none", "pin_memry": true}}}
==== err
error[E0331]: --deepspeed does not know the key `zero_optimization.offload_optimizer.pin_memry`
 --> c.json:1:75
  |
1 | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memry": true},
  |                                                                           ^^^^^^^^^^^
  |
  = help: did you mean `zero_optimization.offload_optimizer.pin_memory`?

note[W0311]: c.json: these keys have no effect: zero_optimization.offload_param.device, zero_optimization.offload_param.pin_memry
  = help: fsdpc dump --stage=config --deepspeed c.json says why

==== exit 1

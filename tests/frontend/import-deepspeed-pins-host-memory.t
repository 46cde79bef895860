# RUN: for d in cpu nvme; do sed "s/HOW/$d/" ds > ds.json; %fsdpc dump --stage=config --deepspeed ds.json net.fsd 2>&1 | sed -n '/^ds.json/,$p' | grep -A1 pin_memory; done; true
# RUN: sed 's/HOW/cpu/; 1s/true/false/' ds > two.json; %fsdpc dump --stage=config --deepspeed two.json net.fsd 2>&1 | grep -E '^error|help'; true
# DeepSpeed's pin_memory is pin of shard.offload, which is one for all that is offloaded; of a file nothing is pinned.
==== net.fsd
shard { }
==== ds
{"zero_optimization": {"stage": 3, "offload_param": {"device": "HOW", "pin_memory": true},
  "offload_optimizer": {"device": "HOW", "pin_memory": true}}}
==== out
  zero_optimization.offload_param.pin_memory = true
    shard.offload.pin = true
--
  zero_optimization.offload_optimizer.pin_memory = true
    shard.offload.pin = true
  zero_optimization.offload_param.pin_memory = true
    has no effect: memory backed by a file is never pinned
--
  zero_optimization.offload_optimizer.pin_memory = true
    has no effect: memory backed by a file is never pinned
error[E0333]: fsdpc does not support zero_optimization.offload_optimizer.pin_memory = true
  = help: shard.offload takes only one pin, and zero_optimization.offload_param.pin_memory sets it to false

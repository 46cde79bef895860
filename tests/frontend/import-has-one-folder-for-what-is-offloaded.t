# RUN: %fsdpc dump --stage=config --deepspeed one.json m.fsd | grep -A 10 '^one.json'
# RUN: %fsdpc dump --stage=config --deepspeed two.json m.fsd
# DeepSpeed's nvme_path is the path of shard.offload, whatever is in its name; two that differ are refused.
==== m.fsd
shard { }
==== one.json
{"zero_optimization": {"offload_optimizer": {"device": "nvme", "nvme_path": "/a;b"}}}
==== two.json
{"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme", "nvme_path": "/a"},
  "offload_optimizer": {"device": "nvme", "nvme_path": "/b"}}}
==== out
one.json
  zero_optimization.offload_optimizer.device = nvme
    shard.offload.states = cpu; shard.offload.grads = cpu; shard.offload.path = "/a;b"
  zero_optimization.offload_optimizer.nvme_path = /a;b
    shard.offload.path = "/a;b"
==== err
error[E0333]: fsdpc does not support zero_optimization.offload_optimizer.device = nvme
 --> two.json:2:25
  |
2 |   "offload_optimizer": {"device": "nvme", "nvme_path": "/b"}}}
  |                         ^^^^^^^^
  |
  = help: shard.offload takes only one path, and zero_optimization.offload_param.nvme_path sets it to "/a"

==== exit 1

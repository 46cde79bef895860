# RUN: %fsdpc dump --stage=config --deepspeed d.json m.fsd 2>&1 | grep -A1 -e path -e error
# JSON writes a character beyond 16 bits as two escapes. The escape of a backslash begins none.
==== d.json
{"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme", "nvme_path": "/n/\ud83d\ude00/\u00e9/\\ud83d"}}}
==== m.fsd
shard { }
==== out
  offload          = (params = cpu, path = "/n/😀/é/\ud83d") # d.json:1
checkpoint
--
    shard.offload.params = cpu; shard.offload.path = "/n/😀/é/\ud83d"
  zero_optimization.offload_param.nvme_path = /n/😀/é/\ud83d
    shard.offload.path = "/n/😀/é/\ud83d"

# RUN: %fsdpc dump --stage=config --accelerate c.yaml m.fsd
# No key is dropped: one that the table lacks is an error, with the nearest that it has.
==== m.fsd
shard { }
==== c.yaml
fsdp_config:
  fsdp_shardin_strategy: FULL_SHARD
  offload: true
==== err
error[E0331]: --accelerate does not know the key `fsdp_config.fsdp_shardin_strategy`
 --> c.yaml:2:3
  |
2 |   fsdp_shardin_strategy: FULL_SHARD
  |   ^^^^^^^^^^^^^^^^^^^^^
  |
  = help: did you mean `fsdp_config.fsdp_sharding_strategy`?

error[E0331]: --accelerate does not know the key `fsdp_config.offload`
 --> c.yaml:3:3
  |
3 |   offload: true
  |   ^^^^^^^

==== exit 1

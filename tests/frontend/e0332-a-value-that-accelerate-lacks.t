# RUN: %fsdpc dump --stage=config --accelerate c.yaml m.fsd
# A value that a key does not have is an error that lists those it has.
==== m.fsd
shard { }
==== c.yaml
fsdp_config:
  fsdp_sharding_strategy: FULL
==== err
error[E0332]: fsdp_config.fsdp_sharding_strategy cannot be `FULL`
 --> c.yaml:2:3
  |
2 |   fsdp_sharding_strategy: FULL
  |   ^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: write one of 1|FULL_SHARD|2|SHARD_GRAD_OP|3|NO_SHARD|4|HYBRID_SHARD|5|HYBRID_SHARD_ZERO2|null

==== exit 1

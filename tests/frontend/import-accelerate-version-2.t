# RUN: cp %root/models/gpt2.fsd .; %fsdpc dump --stage=config --accelerate config.yaml gpt2.fsd 2>/dev/null | sed -n '/^config.yaml/,$p'
# What became of each key of a file of Accelerate for FSDP 2.
==== config.yaml
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_activation_checkpointing: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_reshard_after_forward: false
  fsdp_transformer_layer_cls_to_wrap: Block
mixed_precision: 'no'
num_processes: 8
==== out
config.yaml
  distributed_type = FSDP
    has no effect: section fsdp_config has the details
  fsdp_config.fsdp_version = 2
    shard.layout = param
  fsdp_config.fsdp_activation_checkpointing = true
    shard.recompute = [Block]
  fsdp_config.fsdp_auto_wrap_policy = TRANSFORMER_BASED_WRAP
    has no effect: fsdp_transformer_layer_cls_to_wrap sets the units
  fsdp_config.fsdp_backward_prefetch = BACKWARD_PRE
    has no effect: FSDP2 does not read it either; set shard.prefetch
  fsdp_config.fsdp_reshard_after_forward = false
    shard.strategy = full; shard.reshard = false
  fsdp_config.fsdp_transformer_layer_cls_to_wrap = Block
    shard.unit = [Block]
  mixed_precision = no
    train.precision = f32
  num_processes = 8
    shard.mesh = (dp = 8)

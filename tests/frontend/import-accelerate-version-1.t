# RUN: cp %root/models/gpt2.fsd .; %fsdpc dump --stage=config --accelerate config.yaml gpt2.fsd 2>&1 | grep 'config.yaml'
# A file of Accelerate for FSDP 1 on two machines: settings with their lines, and keys that have no effect.
==== config.yaml
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_POST
  fsdp_cpu_ram_efficient_loading: true
  fsdp_forward_prefetch: true
  fsdp_offload_params: false
  fsdp_sharding_strategy: HYBRID_SHARD
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_sync_module_states: true
  fsdp_transformer_layer_cls_to_wrap: [Block, MLP]
  fsdp_use_orig_params: true
mixed_precision: bf16
num_machines: 2
num_processes: 16
==== out
note[W0311]: config.yaml: these keys have no effect: compute_environment, distributed_type, fsdp_config.fsdp_auto_wrap_policy, fsdp_config.fsdp_cpu_ram_efficient_loading, fsdp_config.fsdp_offload_params, fsdp_config.fsdp_sync_module_states, fsdp_config.fsdp_use_orig_params, num_machines
  = help: fsdpc dump --stage=config --accelerate config.yaml says why
  precision        = bf16(master = f32, reduce = bf16) # config.yaml:14
  mesh             = (rep = 2, dp = 8)        # config.yaml:16
  unit             = [Block, MLP]             # config.yaml:12
  strategy         = full                     # config.yaml:9
  reshard          = true                     # config.yaml:9
  prefetch         = (forward = 1, backward = 1) # config.yaml:7
  prefetch_at      = post                     # config.yaml:5
  form             = sharded                  # config.yaml:10
config.yaml

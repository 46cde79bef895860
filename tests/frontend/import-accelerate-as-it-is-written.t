# RUN: %fsdpc dump --stage=config --accelerate new.yaml m.fsd 2>&- | grep '# new.yaml'; %fsdpc dump --stage=config --accelerate old.yaml m.fsd 2>&- | grep '# old.yaml'
# RUN: %fsdpc dump --stage=config --accelerate cp.yaml m.fsd 2>&1 | grep -A9 '^error' | grep -v '|'; true
# RUN: sed 's/num_processes: 8/num_processes: 7/' old.yaml > odd.yaml; %fsdpc dump --stage=config --accelerate odd.yaml m.fsd 2>&1 | grep -A4 '^error'; true
# Files with every key that Accelerate's questions write, now and formerly, are read, with each null of YAML; what splits sequences or matrices is refused, and ranks that machines cannot share.
==== m.fsd
module Block { a : Linear(4, 4); forward(x) = a(x) }
==== new.yaml
distributed_type: FSDP
dynamo_config: {dynamo_backend: INDUCTOR}
fsdp_config: {fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP, fsdp_reshard_after_forward: false, fsdp_sharding_strategy: FULL_SHARD, fsdp_version: 2,
  fsdp_transformer_layer_cls_to_wrap: Block, fsdp_state_dict_type: SHARDED_STATE_DICT}
ipex_config: {ipex: false, use_xpu: false}
mpirun_config: {mpirun_ccl: '1', mpirun_hostfile: hosts}
num_processes: 4
parallelism_config: {parallelism_config_cp_backend: torch, parallelism_config_cp_comm_strategy: allgather,
  parallelism_config_cp_size: 1, parallelism_config_dp_replicate_size: 2, parallelism_config_dp_shard_size: 2,
  parallelism_config_sp_backend: deepspeed, parallelism_config_sp_size: , parallelism_config_tp_size: Null}
==== old.yaml
command_file: null
commands: null
deepspeed_config: {}
distributed_type: FSDP
fsdp_config: {fsdp_auto_wrap_policy: SIZE_BASED_WRAP, fsdp_backward_prefetch_policy: BACKWARD_PRE,
  fsdp_min_num_params: 2000, fsdp_offload_params: yes, fsdp_sharding_strategy: 4, fsdp_use_orig_params: no}
mixed_precision: 'no'
num_machines: 2
num_processes: 8
tp_config: {tp_size: ~}
==== cp.yaml
distributed_type: FSDP
parallelism_config: {parallelism_config_cp_comm_strategy: allgather, parallelism_config_cp_size: 2}
tp_config: {tp_size: 2}
==== out
  mesh             = (rep = 2, dp = 2)        # new.yaml:9
  unit             = [Block]                  # new.yaml:4
  strategy         = full                     # new.yaml:3
  reshard          = false                    # new.yaml:3
  layout           = param                    # new.yaml:3
  form             = sharded                  # new.yaml:4
  precision        = f32(reduce = f32)        # old.yaml:7
  mesh             = (rep = 2, dp = 4)        # old.yaml:9
  unit             = size(elements = 2000, leaf = []) # old.yaml:6
  strategy         = full                     # old.yaml:6
  reshard          = true                     # old.yaml:6
  offload          = (states = cpu, params = cpu, grads = cpu) # old.yaml:6
error[E0333]: fsdpc does not support parallelism_config.parallelism_config_cp_comm_strategy = allgather
 --> cp.yaml:2:22
  = help: remove it; only dp_replicate_size and dp_shard_size are imported, and --mesh dp=N,tp=T,cp=S gives other axes

error[E0333]: fsdpc does not support parallelism_config.parallelism_config_cp_size = 2
 --> cp.yaml:2:70
  = help: remove it; only dp_replicate_size and dp_shard_size are imported, and --mesh dp=N,tp=T,cp=S gives other axes

error[E0333]: fsdpc does not support tp_config.tp_size = 2
 --> cp.yaml:3:13
  = help: remove it, and give the mesh with --mesh dp=N,tp=T

note[W0311]: cp.yaml: this key has no effect: distributed_type
  = help: fsdpc dump --stage=config --accelerate cp.yaml says why
error[E0406]: axis dp has size 3.5, which is not a whole number
 --> odd.yaml: num_processes:1:29
  |
1 | shard.mesh = (rep = 2, dp = 7 / 2)
  |                             ^^^^^

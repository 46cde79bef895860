# RUN: %fsdpc dump --stage=config --accelerate a.yaml m.fsd 2>&1 | grep a.yaml:
# RUN: %fsdpc dump --stage=config --deepspeed large.json m.fsd | grep 'large.json:\|= [56]000'
# RUN: %fsdpc dump --stage=config --deepspeed b.json m.fsd
# Words of YAML for true and false, numbers from 2^31 on; a setting, and a mistake in it, is of the key that said it,
# of several the last one.
==== m.fsd
shard { }
==== a.yaml
fsdp_config:
  fsdp_offload_params: off
  fsdp_forward_prefetch: on
  fsdp_auto_wrap_policy: SIZE_BASED_WRAP
  fsdp_min_num_params: 3000000000
  fsdp_reshard_after_forward: no
  fsdp_backward_prefetch: BACKWARD_PRE
mixed_precision: fp16
==== large.json
{"zero_optimization": {"stage": 1, "reduce_bucket_size": 5e9},
 "seed": 6000000000.0}
==== b.json
{"zero_optimization": {"stage": 1, "reduce_bucket_size": -1},
 "gradient_clipping": -1}
==== out
note[W0311]: a.yaml: these keys have no effect: fsdp_config.fsdp_offload_params, fsdp_config.fsdp_auto_wrap_policy
  precision        = f16(master = f32, reduce = f16, scale = none) # a.yaml:8
  unit             = size(elements = 3000000000, leaf = []) # a.yaml:5
  strategy         = full                     # a.yaml:6
  reshard          = false                    # a.yaml:6
  prefetch         = (forward = 1, backward = 1) # a.yaml:7
  prefetch_at      = pre                      # a.yaml:7
  seed             = 6000000000               # large.json:2
  strategy         = states                   # large.json:1
  bucket           = 5000000000               # large.json:1
    shard.bucket = 5000000000
  seed = 6000000000.0
    train.seed = 6000000000
==== err
error[E0311]: shard.bucket must be at least 1, not -1
 --> b.json: zero_optimization.reduce_bucket_size:1:16
  |
1 | shard.bucket = -1
  |                ^^

error[E0311]: train.clip must be at least 0, not -1
 --> b.json: gradient_clipping:1:14
  |
1 | train.clip = -1
  |              ^^

==== exit 1

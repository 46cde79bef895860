# RUN: %fsdpc dump --stage=config --deepspeed ds.json net.fsd | grep -v '^ *file'
# RUN: %fsdpc dump --stage=config --deepspeed cpu.json net.fsd
# DeepSpeed's keys say how what the model checkpoints is stored; what it is, shard.recompute says.
==== net.fsd
module Net { e : Embedding(3, 3); forward(ids) = e(ids) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== ds.json
{"activation_checkpointing": {"partition_activations": true, "number_checkpoints": 4,
 "contiguous_memory_optimization": true, "synchronize_checkpoint_boundary": true, "profile": true}}
==== cpu.json
{"activation_checkpointing": {"cpu_checkpointing": true}}
==== out
data
  train            = text(path = "t", from = 0, to = 1) # net.fsd:3
  length           = 3                        # net.fsd:3
  order            = shuffle                  # default
train
  loss             = cross_entropy(model(inputs), targets) # net.fsd:4
  batch            = 24                       # net.fsd:4
  accumulate       = 1                        # default
  steps            = 2                        # net.fsd:4
  epochs           = none                     # default
  optimizer        = sgd(lr = 0.1, momentum = 0, nesterov = false, weight_decay = 0) # net.fsd:4
  schedule         = constant(warmup = 0)     # default
  clip             = none                     # default
  clip_value       = none                     # default
  clip_norm        = 2                        # default
  precision        = f32(reduce = f32)        # default
  loss_scale       = none                     # default
  eval_every       = none                     # default
  eval_steps       = 10                       # default
  seed             = 0                        # default
  on_nan           = stop                     # default
shard
  mesh             = (dp = 1)                 # default
  unit             = root                     # default
  strategy         = full                     # default
  reshard          = true                     # default
  reshard_root     = false                    # default
  accumulate       = sharded                  # default
  hold             = none                     # default
  all_reduce       = each                     # default
  prefetch         = 1                        # default
  prefetch_at      = pre                      # default
  inflight         = 2                        # default
  reduce_buffers   = 1                        # default
  layout           = flat                     # default
  align            = 16B                      # default
  gather           = none                     # default
  scale            = mean                     # default
  bucket           = unit                     # default
  replicate_below  = 0                        # default
  recompute        = none                     # default
  offload          = none                     # default
checkpoint
  keep             = 2                        # default
  snapshot         = direct                   # default
ds.json
  activation_checkpointing.partition_activations = true
    means nothing here: no two ranks have the same activations, so none are split
  activation_checkpointing.number_checkpoints = 4
    means nothing here: shard.recompute says what is computed again
  activation_checkpointing.contiguous_memory_optimization = true
    means nothing here: the plan has an address for everything
  activation_checkpointing.synchronize_checkpoint_boundary = true
    means nothing here: the plan has the edges that are needed
  activation_checkpointing.profile = true
    means nothing here: fsdpc dump shows the work that is done again
==== err
note[W0311]: ds.json: these keys mean nothing here: activation_checkpointing.partition_activations, activation_checkpointing.number_checkpoints, activation_checkpointing.contiguous_memory_optimization, activation_checkpointing.synchronize_checkpoint_boundary, activation_checkpointing.profile
  = help: fsdpc dump --stage=config --deepspeed ds.json says why

error[E0333]: activation_checkpointing.cpu_checkpointing = true cannot be had here
 --> cpu.json:1:31
  |
1 | {"activation_checkpointing": {"cpu_checkpointing": true}}
  |                               ^^^^^^^^^^^^^^^^^^^
  |
  = help: activations are kept or computed again, not offloaded; leave it out and write shard.recompute = Block

==== exit 1

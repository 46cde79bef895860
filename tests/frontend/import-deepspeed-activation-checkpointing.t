# RUN: %fsdpc dump --stage=config --deepspeed ds.json net.fsd | sed -n '/^ds.json/,$p'
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
ds.json
  activation_checkpointing.partition_activations = true
    has no effect: shard.rows, on by default, shares out activations along tp
  activation_checkpointing.number_checkpoints = 4
    has no effect: shard.recompute sets what is recomputed
  activation_checkpointing.contiguous_memory_optimization = true
    has no effect: the plan assigns every address in advance
  activation_checkpointing.synchronize_checkpoint_boundary = true
    has no effect: the plan contains all the synchronization that is needed
  activation_checkpointing.profile = true
    has no effect: fsdpc dump shows what is recomputed
==== err
note[W0311]: ds.json: these keys have no effect: activation_checkpointing.partition_activations, activation_checkpointing.number_checkpoints, activation_checkpointing.contiguous_memory_optimization, activation_checkpointing.synchronize_checkpoint_boundary, activation_checkpointing.profile
  = help: fsdpc dump --stage=config --deepspeed ds.json says why

error[E0333]: fsdpc does not support activation_checkpointing.cpu_checkpointing = true
 --> cpu.json:1:31
  |
1 | {"activation_checkpointing": {"cpu_checkpointing": true}}
  |                               ^^^^^^^^^^^^^^^^^^^
  |
  = help: activations are kept or recomputed, not offloaded; remove it and write shard.recompute = Block

==== exit 1

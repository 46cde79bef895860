# RUN: cp %root/models/gpt2.fsd .; %fsdpc dump --stage=config --deepspeed ds.json gpt2.fsd 2>/dev/null | sed -n '/^ds.json/,$p'
# What became of each key of a file of DeepSpeed; tabs are blanks, 1e4 is a whole number.
==== ds.json
{
	"train_batch_size": 32, "train_micro_batch_size_per_gpu": "auto",
	"gradient_accumulation_steps": 2, "gradient_clipping": 1.0, "bf16": {"enabled": true},
	"zero_optimization": {
		"stage": 3, "overlap_comm": true, "reduce_bucket_size": 5e8,
		"stage3_param_persistence_threshold": 1e4, "offload_param": {"device": "none"}
	}
}
==== out
ds.json
  train_batch_size = 32
    train.batch = 32
  train_micro_batch_size_per_gpu = auto
    has no effect: Transformers fills it in; here the model file does
  gradient_accumulation_steps = 2
    train.accumulate = 2
  gradient_clipping = 1.0
    train.clip = 1
  bf16.enabled = true
    train.precision = bf16
  zero_optimization.stage = 3
    shard.strategy = full
  zero_optimization.overlap_comm = true
    has no effect: collectives always run on streams of their own
  zero_optimization.reduce_bucket_size = 5e8
    has no effect: a unit's gradients are reduced at once, so that few of them are unsharded; shard.bucket merges units
  zero_optimization.stage3_param_persistence_threshold = 1e4
    shard.replicate_below = 10000
  zero_optimization.offload_param.device = none
    has no effect: nothing is offloaded

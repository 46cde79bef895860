# RUN: b() { echo "$*" | sed 's/.*models.//'; %python %root/tests/foresight/brute.py %fsdpc "$@"; }; m=%root/models; b cuda 44MB $m/gpt-text.fsd 4 -s L=2 -n 2 && b cpu 12MB $m/gpt-text.fsd 4 -s L=1 --mesh rep=2,dp=2,cp=2 -s train.accumulate=2 -s shard.reshard=2 && b cpu 6MB $m/gpt-text.fsd 4 -s L=2 --mesh dp=2,tp=2 -s shard.strategy=grads --outside 1MB && b cpu 2MB $m/mlp.fsd 4 -s hidden=64 -s train.batch=32 -n 2 && b cuda 36MB $m/mixtral.fsd 4 -s L=2 -s D=32 -s F=48 -s H=4 -s KV=2 -s seq=64 -s vocab=97 -s train.batch=8 -n 4
# RUN: b() { echo "$*"; %python %root/tests/foresight/brute.py %fsdpc "$@"; }; m=%root/models/gpt-text.fsd; d="-s train.batch=4 -s train.steps=900"; ln -s $m gpt.fsd; b cpu 1MB gpt.fsd 4 -s L=1 -n 1 && b cpu 9MB gpt.fsd 4 -s L=2 --accelerate c.yaml -n 4 && b cpu 9MB gpt.fsd 4 -s L=2 --deepspeed ds.json && b cuda 36MB --hf=config.json 4 $d -n 2
# Each number of fit is what compile predicts, and no number of samples, ranks or positions that fits is missed.
# NEEDS: sanitizer:none
# TIME: 120
==== c.yaml
fsdp_config: {fsdp_sharding_strategy: SHARD_GRAD_OP, fsdp_activation_checkpointing: true,
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP, fsdp_transformer_layer_cls_to_wrap: Block}
==== ds.json
{"train_batch_size": 24, "gradient_accumulation_steps": 3, "zero_optimization": {"stage": 2}}
==== config.json
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
 "num_hidden_layers": 2, "vocab_size": 97, "hidden_act": "silu", "rms_norm_eps": 1e-5, "max_position_embeddings": 256}
==== out
gpt-text.fsd 4 -s L=2 -n 2
samples: 2
length: 76
ranks: 0
together: -s shard.strategy=grads -s train.accumulate=2
14 settings, exit 0
gpt-text.fsd 4 -s L=1 --mesh rep=2,dp=2,cp=2 -s train.accumulate=2 -s shard.reshard=2
samples: 11
length: 128
ranks: 8
13 settings, exit 0
gpt-text.fsd 4 -s L=2 --mesh dp=2,tp=2 -s shard.strategy=grads --outside 1MB
samples: 2
length: 69
ranks: 0
together: -s train.accumulate=4
13 settings, exit 0
mlp.fsd 4 -s hidden=64 -s train.batch=32 -n 2
samples: 159
length: 0
ranks: 1
10 settings, exit 0
mixtral.fsd 4 -s L=2 -s D=32 -s F=48 -s H=4 -s KV=2 -s seq=64 -s vocab=97 -s train.batch=8 -n 4
samples: 14
length: 466
ranks: 1
13 settings, exit 0
cpu 1MB gpt.fsd 4 -s L=1 -n 1
samples: 0
length: 0
ranks: 0
together: -s train.accumulate=8 -s train.loss_chunks=16 -s shard.recompute=(Block, keep = attention) -s shard.offload=(states = cpu)
mesh: -s shard.recompute=(Block, keep = attention) -s shard.offload=(states = cpu) -s train.batch=1 --mesh dp=1,cp=2,tp=4
15 settings, exit 1
cpu 9MB gpt.fsd 4 -s L=2 --accelerate c.yaml -n 4
samples: 4
length: 128
ranks: 2
14 settings, exit 0
cpu 9MB gpt.fsd 4 -s L=2 --deepspeed ds.json
samples: 1
length: 53
ranks: 0
together: -s train.accumulate=12
15 settings, exit 0
cuda 36MB --hf=config.json 4 -s train.batch=4 -s train.steps=900 -n 2
samples: 0
length: 108
ranks: 0
together: -s shard.strategy=grads -s train.accumulate=2 -s train.loss_chunks=16 -s shard.recompute=(Block, keep = attention)
13 settings, exit 0

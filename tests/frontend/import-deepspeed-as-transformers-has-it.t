# RUN: %fsdpc dump --stage=config --deepspeed auto.json m.fsd 2>&- | grep '# auto.json'; %fsdpc dump --stage=config --deepspeed numbers.json m.fsd 2>&- | grep '# numbers.json'
# RUN: sed 's/"eps": 1e-8/"eps": "auto"/; s/0.001,/"auto",/; s/"Adam"/"OneBitAdam"/' numbers.json > bad.json; %fsdpc dump --stage=config --deepspeed bad.json m.fsd 2>&1 | grep -A1 '^error.*optimizer'; %fsdpc dump --stage=config --deepspeed bad.json m.fsd 2>&1 | grep -c '^error'; true
# RUN: %fsdpc dump --stage=config --deepspeed torch.json m.fsd 2>&1 | grep -A5 '^error'; sed 's/1e-4/1e-4, "weight_decay": 0.1/' torch.json > given.json; %fsdpc dump --stage=config --deepspeed given.json m.fsd 2>&1 | grep 'key means\|optimizer  '
# A file whose numbers are Transformers' to fill in leaves them to the model file; one with numbers makes the optimizer and the loss scale.
==== m.fsd
train { optimizer = adamw(lr = 6e-4); precision = bf16 }
==== auto.json
{"fp16": {"enabled": "auto", "loss_scale": 0, "loss_scale_window": 1000, "initial_scale_power": 16, "hysteresis": 2, "min_loss_scale": 1},
 "bf16": {"enabled": "auto"},
 "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"}},
 "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": "auto", "warmup_max_lr": "auto", "warmup_num_steps": "auto"}},
 "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": true}, "overlap_comm": true,
   "sub_group_size": 1e9, "reduce_bucket_size": "auto", "stage3_max_live_parameters": 1e9},
 "gradient_accumulation_steps": "auto", "gradient_clipping": "auto", "train_batch_size": "auto",
 "train_micro_batch_size_per_gpu": "auto", "wall_clock_breakdown": false, "steps_per_print": 2000}
==== numbers.json
{"train_batch_size": 16, "gradient_clipping": 1.0, "aio": {"block_size": 1048576, "overlap_events": true},
 "fp16": {"enabled": true, "loss_scale": 0, "loss_scale_window": 500, "hysteresis": 2, "initial_scale_power": 15},
 "optimizer": {"type": "Adam", "params": {"lr": 0.001, "betas": [0.8, 0.999], "eps": 1e-8, "weight_decay": 3e-7}},
 "zero_optimization": {"stage": 2, "allgather_bucket_size": 5e8, "contiguous_gradients": true, "cpu_offload": false}}
==== torch.json
{"optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": true}}}
==== out
  strategy         = full                     # auto.json:5
  offload          = (states = cpu, grads = cpu, pin = true) # auto.json:5
  batch            = 16                       # numbers.json:1
  optimizer        = adamw(lr = 0.001, betas = (0.8, 0.999), eps = 1e-08, weight_decay = 3e-07) # numbers.json:3
  clip             = 1                        # numbers.json:1
  precision        = f16(master = f32, reduce = f32, scale = none) # numbers.json:2
  loss_scale       = (32768, 2, 0.5, 500)     # numbers.json:2
  strategy         = grads                    # numbers.json:4
error[E0333]: fsdpc does not support optimizer.params.betas = 0.8, 0.999
 --> bad.json:3:63
--
error[E0333]: fsdpc does not support optimizer.params.weight_decay = 3e-7
 --> bad.json:3:101
2
error[E0333]: fsdpc does not support optimizer.params.torch_adam = true
 --> torch.json:1:56
  |
1 | {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": true}}}
  |                                                        ^^^^^^^^^^^^
  |
  optimizer        = adamw(lr = 0.0001, betas = (0.9, 0.999), eps = 1e-08, weight_decay = 0.1) # given.json:1

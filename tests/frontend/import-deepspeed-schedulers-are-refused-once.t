# RUN: for t in WarmupLR WarmupDecayLR WarmupCosineLR OneCycle; do for w in log linear; do sed "s/TYPE/$t/; s/RATE/$w/" s.json > d.json; %fsdpc dump --stage=config --deepspeed d.json m.fsd 2>&1 | grep -E '^error|help:'; done; done; true
# A scheduler of DeepSpeed is one error with the nearest schedule: from step 2 on its line has (k - 2) / warmup of lr.
==== s.json
{"scheduler": {"type": "TYPE", "params": {"warmup_min_lr": 0, "warmup_max_lr": 0.001, "warmup_num_steps": 100, "warmup_type": "RATE", "total_num_steps": 1000}}}
==== m.fsd
train { optimizer = adamw(lr = 6e-4) }
==== out
error[E0333]: fsdpc does not support scheduler.type = WarmupLR
  = help: write schedule = constant(warmup = 100) in section train, with lr = 0.001, and remove the scheduler: its warm-up is linear, DeepSpeed's logarithmic
error[E0333]: fsdpc does not support scheduler.type = WarmupLR
  = help: write schedule = constant(warmup = 100) in section train, with lr = 0.001, and remove the scheduler: step k of the warm-up has k / warmup of lr, but (k - 2) / warmup in DeepSpeed
error[E0333]: fsdpc does not support scheduler.type = WarmupDecayLR
  = help: write schedule = linear(warmup = 100) in section train, with lr = 0.001, and remove the scheduler: its warm-up is linear, DeepSpeed's logarithmic
error[E0333]: fsdpc does not support scheduler.type = WarmupDecayLR
  = help: write schedule = linear(warmup = 100) in section train, with lr = 0.001, and remove the scheduler: step k of the warm-up has k / warmup of lr, but (k - 2) / warmup in DeepSpeed
error[E0333]: fsdpc does not support scheduler.type = WarmupCosineLR
  = help: write schedule = cosine(warmup = 100, final = 0.0001) in section train, with lr = 0.001, and remove the scheduler: its warm-up is linear, DeepSpeed's logarithmic
error[E0333]: fsdpc does not support scheduler.type = WarmupCosineLR
  = help: write schedule = cosine(warmup = 100, final = 0.0001) in section train, with lr = 0.001, and remove the scheduler: step k of the warm-up has k / warmup of lr, but (k - 2) / warmup in DeepSpeed
error[E0333]: fsdpc does not support scheduler.type = OneCycle
  = help: write train.schedule in the model file, and remove this key; fsdpc help train.schedule lists schedules
error[E0333]: fsdpc does not support scheduler.type = OneCycle
  = help: write train.schedule in the model file, and remove this key; fsdpc help train.schedule lists schedules

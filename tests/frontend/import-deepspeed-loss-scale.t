# RUN: while read -r line; do echo "$line" >d.json; %fsdpc dump --stage=config --deepspeed d.json m.fsd 2>&1 | grep -E '^error|help|^  precision|^  loss_scale|^  clip  '; done <lines
# 0.0 is 0 in any key of a number, and a dynamic loss scale has DeepSpeed's window of 1000 where only its start is given. DeepSpeed takes one of bf16 and fp16.
==== lines
{"fp16": {"enabled": true, "initial_scale_power": 12}, "gradient_clipping": 0.0}
{"fp16": {"enabled": true, "loss_scale": 0.0, "initial_scale_power": 12, "loss_scale_window": 500}}
{"fp16": {"enabled": true, "loss_scale": 128.0}}
{"fp16": {"enabled": true}, "bf16": {"enabled": true}}
{"fp16": {"enabled": false}, "bf16": {"enabled": true}}
==== m.fsd
train { clip = 1.0 }
==== out
  clip             = none                     # d.json:1
  precision        = f16(master = f32, reduce = f32, scale = none) # d.json:1
  loss_scale       = (4096, 2, 0.5, 1000)     # d.json:1
  = help: fsdpc dump --stage=config --deepspeed d.json says why
  clip             = 1                        # m.fsd:1
  precision        = f16(master = f32, reduce = f32, scale = none) # d.json:1
  loss_scale       = (4096, 2, 0.5, 500)      # d.json:1
  clip             = 1                        # m.fsd:1
  precision        = f16(master = f32, reduce = f32, scale = none) # d.json:1
  loss_scale       = 128                      # d.json:1
error[E0333]: fsdpc does not support fp16.enabled = true
  = help: bf16.enabled is true as well: write false for one of them
  = help: fsdpc dump --stage=config --deepspeed d.json says why
  clip             = 1                        # m.fsd:1
  precision        = bf16(master = f32, reduce = f32) # d.json:1
  loss_scale       = none                     # default

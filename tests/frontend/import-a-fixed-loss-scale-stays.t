# RUN: %fsdpc dump --stage=config --deepspeed ds.json net.fsd 2>&- | grep loss_scale
# DeepSpeed's window belongs to a dynamic loss scale: with a fixed one it has no effect.
==== ds.json
{"fp16": {"enabled": true, "loss_scale": 128, "loss_scale_window": 1000}}
==== net.fsd
shard { strategy = full }
==== out
  loss_scale       = 128                      # ds.json:1
  fp16.loss_scale = 128
    train.loss_scale = 128
  fp16.loss_scale_window = 1000
    has no effect: fp16.loss_scale is constant

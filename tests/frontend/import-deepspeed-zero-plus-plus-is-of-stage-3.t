# RUN: %fsdpc dump --stage=config --deepspeed ds.json net.fsd 2>&1 | grep -E '^error|help'; true
# ZeRO++'s keys are of stage 3, and weights are never kept quantized.
==== net.fsd
shard { }
==== ds.json
{"zero_optimization": {"stage": 1, "zero_hpz_partition_size": 2, "zero_quantized_weights": true,
  "zero_quantized_nontrainable_weights": true}}
==== out
error[E0333]: fsdpc does not support zero_optimization.zero_hpz_partition_size = 2
  = help: it needs stage 3: write 1 or remove it
error[E0333]: fsdpc does not support zero_optimization.zero_quantized_weights = true
  = help: it needs stage 3: write false or remove it
error[E0333]: fsdpc does not support zero_optimization.zero_quantized_nontrainable_weights = true
  = help: frozen weights keep the dtype of the master weights; shard.gather = i8, or "path.glob" = gather(i8), sends them as bytes

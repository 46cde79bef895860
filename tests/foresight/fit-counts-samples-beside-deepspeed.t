# RUN: b() { cat $1; %python %root/tests/foresight/brute.py %fsdpc cpu 1MB %root/models/mlp.fsd 4 -s hidden=64 -n 2 --deepspeed $1; }; b a.json && b b.json
# RUN: %fsdpc fit %root/models/mlp.fsd --deepspeed b.json -s hidden=64 -n 2 --memory 1MB --device cpu | grep -E "samples a|fewest|accumulate="
# Where a file of DeepSpeed gives the samples of a rank and micro-batch, fit still looks for more of them, and what it says is what compile predicts.
# NEEDS: sanitizer:none
==== a.json
{"train_micro_batch_size_per_gpu": 4}
==== b.json
{"train_batch_size": 16, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
==== out
{"train_micro_batch_size_per_gpu": 4}
samples: 59
length: 0
ranks: 1
8 settings, exit 0
{"train_batch_size": 16, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
samples: 49
length: 0
ranks: 1
9 settings, exit 0
most samples a rank  49: peak 976.2 KiB, 320 B left: -s train.batch=196 -s train.accumulate=2
fewest ranks         1: peak 637.8 KiB, 338.8 KiB left: --mesh dp=1 -s train.batch=8 -s train.accumulate=2
  train.accumulate=4                                        610.8 KiB, 365.8 KiB left
  train.accumulate=8                                        604.5 KiB, 372.1 KiB left
  shard.accumulate=local                                    637.8 KiB, 338.8 KiB left

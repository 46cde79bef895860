# RUN: while read -r line; do set -- $line; echo "$1" > d.json; shift; %fsdpc dump --stage=config --deepspeed d.json "$@" m.fsd 2>&1 | grep -E '^error|help:|^  batch|^  accumulate *= [0-9]'; done < lines; true
# The samples of a rank and micro-batch give the batch or the accumulation, or agree with both. Where these two are
# given, and one of them by -s, they count more than the file.
==== lines
{"train_micro_batch_size_per_gpu":4} -n 8
{"train_micro_batch_size_per_gpu":4,"gradient_accumulation_steps":3} -n 8
{"train_micro_batch_size_per_gpu":4,"train_batch_size":128} -n 8
{"train_micro_batch_size_per_gpu":4,"train_batch_size":128,"gradient_accumulation_steps":4} -n 8
{"train_micro_batch_size_per_gpu":4} -n 2 -s train.batch=64
{"train_micro_batch_size_per_gpu":4} -n 2 -s train.accumulate=3
{"train_micro_batch_size_per_gpu":4} -n 2 -s train.batch=60 -s train.accumulate=3
{"train_micro_batch_size_per_gpu":4,"train_batch_size":128,"gradient_accumulation_steps":4} -n 8 -s train.accumulate=16
{"train_micro_batch_size_per_gpu":4} -n 2 -s train.batch=60
{"train_micro_batch_size_per_gpu":4,"train_batch_size":100} -n 8
{"train_micro_batch_size_per_gpu":4,"train_batch_size":128,"gradient_accumulation_steps":4} -n 2
{"train_micro_batch_size_per_gpu":1.5}
==== m.fsd
train { accumulate = 2; batch = 8 }
==== out
  batch            = 64                       # d.json:1
  accumulate       = 2                        # m.fsd:1
  batch            = 96                       # d.json:1
  accumulate       = 3                        # d.json:1
  batch            = 128                      # d.json:1
  accumulate       = 4                        # d.json:1
  batch            = 128                      # d.json:1
  accumulate       = 4                        # d.json:1
  batch            = 64                       # -s
  accumulate       = 8                        # d.json:1
  batch            = 24                       # d.json:1
  accumulate       = 3                        # -s
  batch            = 60                       # -s
  accumulate       = 3                        # -s
  batch            = 128                      # d.json:1
  accumulate       = 16                       # -s
error[E0319]: train_micro_batch_size_per_gpu = 4 does not fit batch = 60, accumulate = 2 and 2 ranks
  = help: batch must equal train_micro_batch_size_per_gpu x accumulate x ranks; -n sets the number of ranks
error[E0319]: train_micro_batch_size_per_gpu = 4 does not fit batch = 100, accumulate = 2 and 8 ranks
  = help: batch must equal train_micro_batch_size_per_gpu x accumulate x ranks; -n sets the number of ranks
error[E0319]: train_micro_batch_size_per_gpu = 4 does not fit batch = 128, accumulate = 4 and 2 ranks
  = help: batch must equal train_micro_batch_size_per_gpu x accumulate x ranks; -n sets the number of ranks
error[E0332]: train_micro_batch_size_per_gpu cannot be `1.5`
  = help: write a whole number of samples, at least 1

# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --steps 4 p; %fsdpc compile -q net.fsd -n 3 -o q -s train.steps=6 -s 'train.optimizer=adamw(lr = 1)' -s 'train.schedule=cosine(warmup = 2)' -s train.eval_every=none -s train.clip=1; %fsdp-run --threads 1 --resume ck --log log q 2>&1 | grep -v 'tokens/s\|loss\|FLOP\|arena'; grep -o '"step":[0-9]*' log
# Learning rate, schedule, length, evaluation and ranks may change: the run lists the changes.
# NEEDS: build:device_cpu.so
==== out
note: train.lr was 0.01 and is 1 from step 4 on
note: train.schedule was constant(warmup = 0, decay = 0, final = 1) and is cosine(warmup = 2, decay = 0, final = 0) from step 4 on
note: train.clip was 0 and is 1 from step 4 on
note: train.steps was 8 and is 6 from step 4 on
note: train.eval_every was 2 and is 0 from step 4 on
note: ranks was 2 and is 3 from step 4 on
resuming from ck/step-00000004 after 4 of 6 steps
device cpu, transport local, 3 ranks of 1 thread
steps           2
"step":4
"step":4
"step":5

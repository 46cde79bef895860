# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; s="-s train.optimizer=sgd(lr=0.1,momentum=0.5)"; %fsdpc compile -q net.fsd -n 2 -o p $s && %fsdp-run -q --threads 1 --checkpoint ck --steps 4 p; for s in "train.optimizer=sgd(lr=0.1,momentum=0.9,nesterov=true)" train.clip_value=2 shard.scale=sum shard.gather=bf16; do %fsdpc compile -q net.fsd -n 2 -o q -s "train.optimizer=sgd(lr=0.1,momentum=0.5)" -s "$s"; %fsdp-run --threads 1 --resume ck q 2>&1 | grep note; done
# RUN: s="-s train.optimizer=sgd(lr=0.1,momentum=0.5)"; sed 's/relu/gelu/' net.fsd > g.fsd; %fsdpc compile -q g.fsd -n 2 -o q $s; %fsdp-run --threads 1 --resume ck q 2>&1 | sed -n 's/hash [0-9a-f]*/hash H/gp'; for o in "-n 3" "-n 2 -s train.accumulate=3" "--mesh rep=2,dp=2 -s shard.strategy=grads -s train.precision=bf16"; do %fsdpc compile -q net.fsd $o -o q $s; %fsdp-run --threads 1 --resume ck q 2>&1 | grep note; done
# RUN: s="-s train.optimizer=sgd(lr=0.1,momentum=0.5)"; sed 's/eval_every = 2/eval_every = 2; "out.*" = group(lr = 0.01)/' net.fsd > g.fsd; %fsdpc compile -q g.fsd -n 2 -o q $s; %fsdp-run --threads 1 --resume ck q 2>&1 | sed -n 's/hash [0-9a-f]*/hash H/gp'
# Changed constants of the optimizer, scales of gradients, forms of gathers and changes of forward are reported; other ranks and settings do not make another model.
# NEEDS: build:device_cpu.so
==== out
note: train.momentum was 0.5 and is 0.9 (nesterov) from step 4 on
note: train.clip_value was 0 and is 2 from step 4 on
note: shard.scale was 1 of the mean and is 2 of the mean from step 4 on
note: shard.gather was none and is bf16 from step 4 on
note: train.precision was f32(master = f32, reduce = f32) and is bf16(master = f32, reduce = f32) from step 4 on
note: model.forward was hash H and is hash H from step 4 on
note: ranks was 2 and is 3 from step 4 on
note: train.accumulate was 1 and is 3 from step 4 on
note: train.precision was f32(master = f32, reduce = f32) and is bf16(master = f32, reduce = f32) from step 4 on
note: ranks was 2 and is 4 from step 4 on
note: train.groups was none and is 1 of 4 parameters, hash H from step 4 on

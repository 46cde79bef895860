# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s 'train.optimizer=sgd(lr = 1e8)' -s train.on_nan=continue -s train.steps=4 -s train.eval_every=1 -s train.eval_steps=1 -o p -n 1; %fsdp-run --log log p 2>&1 | grep -c "best eval loss  *[0-9]"; grep '"eval"' log | grep -c null
# Evaluations that are not finite leave the best one as it is.
# NEEDS: build:device_cpu.so
==== out
1
1

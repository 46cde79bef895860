# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --save w p; %fsdpc compile -q net.fsd -n 3 -o q -s 'train.optimizer=sgd(lr = 0.1)' -s train.batch=6; for from in w ck ck/step-00000008; do %fsdp-run --eval-only --load $from q 2> /dev/null | grep loss; %fsdp-run -q --load $from --save v.${from//\/} q; done; cmp v.w v.ck && cmp v.ck v.ckstep-00000008
# --load takes only the weights of a checkpoint: for another optimizer, batch and number of ranks; also with --eval-only and --generate.
# NEEDS: build:device_cpu.so
==== out
eval loss       4.70184
eval loss       4.70184
eval loss       4.70184

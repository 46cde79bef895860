# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --steps 4 p; %fsdp-run --resume none p; echo "exit $?"; %fsdp-run --resume ck --steps 3 p; echo "exit $?"; %fsdp-run --checkpoint ck p; echo "exit $?"
# RUN: %fsdpc compile -q net.fsd -n 2 -o q -s train.batch=6 -s train.seed=4 -s 'train.optimizer=lion(lr = 1)'; %fsdp-run --resume ck q; echo "exit $?"; seq 301 > u.txt; %fsdp-run --data train=u.txt --resume ck p 2>&1 | sed 's/hash.*,/hash,/;s/hash.*now/hash now/'; true
# RUN: sed 's/20/21/g; s/out/end/g' net.fsd > other.fsd; %fsdpc compile -q other.fsd -o q; %fsdp-run --resume ck q; echo "exit $?"
# Changed settings are reported with both values; --resume without a checkpoint is an error, and no run writes into another run's folder.
# NEEDS: build:device_cpu.so
==== out
exit 2
exit 1
exit 1
exit 1
error: ck/step-00000004: settings differ from the checkpoint
  data.train: text, 218 samples, 1092 bytes, hash now
help: use the checkpoint's settings; or, to start anew from its weights only: --load ck/step-00000004
exit 3
==== err
error: --resume none: there is no checkpoint
help: --resume-or-start starts a run where there is none
error: ck/step-00000004 was made after 4 steps, but this run has only 3
help: use a larger --steps, or compile with a larger train.steps
error: --checkpoint ck: it contains step 4 of another run
help: --resume-or-start ck continues that run; or name another folder
error: ck/step-00000004: settings differ from the checkpoint
  train.batch: 12 in the checkpoint, 6 now
  train.seed: 0 in the checkpoint, 4 now
  train.optimizer: adamw in the checkpoint, lion now
help: use the checkpoint's settings; or, to start anew from its weights only: --load ck/step-00000004
error: ck/step-00000004: the checkpoint is of another model
  fc.weight: f32[20, 12] in the checkpoint, f32[21, 12] here
  fc.bias: f32[20] in the checkpoint, f32[21] here
  end.weight: f32[128, 21] here, not in the checkpoint
  out.weight: in the checkpoint, not here

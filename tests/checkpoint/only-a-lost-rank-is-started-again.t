# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; %fsdpc compile -q toy.fsd -n 2 -o q -s 'train.optimizer=sgd(lr = 1e30)'; r="%fsdp-run -q --restarts 3"; $r p; echo "exit $?"; $r --checkpoint ck --log - p; echo "exit $?"; RANK=0 WORLD_SIZE=2 $r --checkpoint ck p; echo "exit $?"; $r --checkpoint ck --data train=none p; echo "exit $?"; $r --checkpoint nan --checkpoint-every 2 q 2>err; echo "exit $?"; sed 's/(inf)/(nan)/' err >&2; $r --checkpoint ck p | grep steps; ls ck; echo x > ck/step-00000006/manifest.json; $r --resume ck --checkpoint ck p; echo "exit $?"; $r --eval-only --load ck p
# A failure that would only happen again is reported once, as without --restarts. Which of inf and nan comes first
# depends on how the processor multiplies.
# NEEDS: build:device_cpu.so
==== out
exit 1
exit 1
exit 1
exit 2
exit 5
lock
step-00000006
exit 3
==== err
error: --restarts needs --checkpoint FOLDER, or checkpoint.path in the model file: a restart continues from a checkpoint
help: --checkpoint FOLDER --checkpoint-every STEPS
error: --restarts and --log -: lines of repeated steps cannot be removed from standard output
help: --log FILE
error: --restarts: torchrun started this rank, and fsdp-run cannot start the others again
help: let torchrun start the run again, with --resume-or-start FOLDER in place of --restarts: docs/checkpoints.md shows the commands
error: cannot open data file none: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
error: step 1: loss nan, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (nan) is that of out toy.fsd:4:16: linear #9, on rank 0
help: train.on_nan = skip leaves such steps out
error: ck/step-00000006/manifest.json: checksum mismatch: the file is damaged
help: no earlier checkpoint is intact
error: --eval-only does not train, so it excludes --restarts
help: fsdp-run --help lists the options
==== exit 1

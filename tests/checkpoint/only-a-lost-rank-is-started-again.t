# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; %fsdpc compile -q toy.fsd -n 2 -o q -s 'train.optimizer=sgd(lr = 1e30)'; r="%fsdp-run -q --restarts 3"; $r p; echo "exit $?"; $r --checkpoint ck --log - p; echo "exit $?"; RANK=0 WORLD_SIZE=2 $r --checkpoint ck p; echo "exit $?"; $r --checkpoint ck --data train=none p; echo "exit $?"; $r --checkpoint nan --checkpoint-every 2 q; echo "exit $?"; $r --checkpoint ck p | grep steps; ls ck; echo x > ck/step-00000006/manifest.json; $r --resume ck --checkpoint ck p; echo "exit $?"; $r --eval-only --load ck p
# What would only happen again is said once, as without --restarts.
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
error: --restarts goes with --checkpoint FOLDER, or checkpoint.path in the model file: a run goes on from its checkpoints
help: --checkpoint FOLDER --checkpoint-every STEPS
error: --restarts and --log -: steps that come again cannot be taken back
help: --log FILE
error: --restarts: torchrun started this rank, and fsdp-run cannot start the others again
help: let torchrun start the run again, with --resume-or-start FOLDER in place of --restarts: docs/checkpoints.md has the lines
error: cannot open data file none: No such file or directory
help: paths of data are looked up from the working folder; --data train=PATH names another file
error: step 1: loss nan, gradient norm nan: not finite; the weights are those before this step
help: train.on_nan = skip goes on without such steps
error: ck/step-00000006/manifest.json: checksum mismatch
help: there is no whole checkpoint before it
error: --eval-only and --restarts: nothing is trained
help: fsdp-run --help lists the options
==== exit 1

# RUN: cp %root/tests/nccl/net.fsd .; seq 400 >t.txt; %fsdpc compile -q net.fsd -s train.batch=9 -n 9 -o p; FSDP_EMULATE_GPUS=1 %build/emulated/run/fsdp-run --device cuda --transport local p 2>&1; echo "exit $?"
# A GPU that more ranks would share than its sums take refuses them at the start.
# NEEDS: build:emulated/run/fsdp-run
==== out
error: 9 ranks cannot share one GPU; at most 8 can
help: start a process for each GPU, or compile for at most 8 ranks
exit 2

# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; export FSDP_EMULATE_GPUS=2; for s in direct copy; do %fsdpc compile -q toy.fsd -n 2 -o $s -s checkpoint.snapshot=$s || exit; for t in nccl local; do %build/emulated/run/fsdp-run -q -n 2 --device cuda --transport $t --threads 1 --checkpoint $s-$t --checkpoint-every 2 --keep 9 --save $s-$t.w $s || exit; rm $s-$t/lock $s-$t/*/manifest.json; diff -r direct-nccl $s-$t && cmp direct-nccl.w $s-$t.w && echo same; done; done; ls copy-local
# On GPUs the state goes through pinned memory, beside a step that is issued and not replayed; with a process for each rank
# and with threads, out of the state and out of a copy, the checkpoints are the same.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 100
==== out
same
same
same
same
step-00000002
step-00000004
step-00000006

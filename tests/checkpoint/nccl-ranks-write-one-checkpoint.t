# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p; export FSDP_EMULATE_GPUS=2; for s in 2 4 6; do %build/emulated/run/fsdp-run -q -n 2 --device cuda --transport nccl --threads 1 --steps $s --resume-or-start ck --save v p || exit; done; %build/emulated/run/fsdp-run -q -n 2 --device cuda --transport local --threads 1 --checkpoint one --save u p && cmp u v && rm */*/manifest.json && diff -r ck/step-00000006 one/step-00000006 && echo same
# So do processes with a GPU each, over the fake NCCL.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 100
==== out
same

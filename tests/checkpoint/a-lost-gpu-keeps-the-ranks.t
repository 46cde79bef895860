# RUN: cp %root/tests/checkpoint/toy.fsd .; seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; go() { g=$1; shift; FSDP_EMULATE_GPUS=$g %build/emulated/run/fsdp-run --device cuda --threads 1 "$@" p 2>> e > %t/o || exit; }; go 2 --checkpoint whole --save u; go 2 --steps 3 --resume-or-start ck; go 1 --resume-or-start ck --save v; grep -h -o 'transport [a-z]*, 2 ranks\|resuming from .*' e; cmp u v && echo same
# With one GPU fewer, a run resumes from its checkpoint with the same number of ranks, which share the remaining GPUs.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 100
==== out
transport nccl, 2 ranks
transport nccl, 2 ranks
resuming from ck/step-00000003 after 3 of 6 steps
transport local, 2 ranks
same

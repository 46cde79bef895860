# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -n 2 -o p.bin; run() { rm -rf p.bin.tuned t; mkdir t; env "$@" FSDP_EMULATE_GPUS=2 FSDP_FAKE_TRACE=t %build/emulated/run/fsdp-run -n 2 --steps 1 --quiet --device cuda p.bin; grep -h '^I' t/* | grep -o 'ctas.*' | sort | uniq -c; grep -o '132 multiprocessors.*,' p.bin.tuned | cut -d, -f1; }; run A=b; run FSDP_NCCL_CTAS=8; run FSDP_NCCL_CTAS=0
# RUN: FSDP_EMULATE_GPUS=2 FSDP_NCCL_CTAS=all %build/emulated/run/fsdp-run -n 2 --steps 1 --quiet --device cuda p.bin 2>&1 | grep -o "FSDP_NCCL.*"
# NCCL's kernels get a part of the GPU, gathers copy engines, and products are chosen for the rest.
# NEEDS: build:emulated/run/transport_nccl.so
# TIME: 60
==== out
      2 ctas -2147483648 policy -2147483648
      2 ctas 16 policy -2147483648
      2 ctas 16 policy 2
132 multiprocessors (16 for NCCL)
      2 ctas -2147483648 policy -2147483648
      2 ctas 8 policy -2147483648
      2 ctas 8 policy 2
132 multiprocessors (8 for NCCL)
      6 ctas -2147483648 policy -2147483648
132 multiprocessors
FSDP_NCCL_CTAS=all: choose a number of multiprocessors from 1 to 64, 0 for no limit, or leave it unset
==== exit 2

# RUN: seq 4000 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/ends.py %fsdpc %build %t net.fsd 3 plan memory gpus
# Another plan, a GPU that is too small, too few GPUs: one message, and all ranks end.
# NEEDS: build:emulated/run/transport_nccl.so
# TIME: 120
==== out
plan: codes 4 4 4
error: rank 1 (process PID on HOST) has a different plan than rank 0: HASH, not HASH
help: copy the same FOLDER/plan.bin to every machine
memory: codes 2 2 2
error: GPU 1 is too small: the plan's arena takes N bytes (0.03 GiB), libraries about 0.00 GiB more; N bytes (0.03 GiB) of its 0.03 GiB are free
help: workspaces of kernels are 100 % of the peak: more train.accumulate or a smaller train.batch
note: this message is from rank 1 (process PID on HOST); 2 of 3 ranks could start
gpus: codes 2 2 2
error: rank R (process PID on HOST): NCCL's start: NCCL: invalid usage: Duplicate GPU detected : rank 2 and rank 1 both on CUDA device 0
help: NCCL needs a GPU for each rank; --transport local runs several on one (tests: a NCCL_HOSTID for each process)

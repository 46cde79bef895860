# RUN: %python %root/tests/pipeline/ways.py %fsdpc %build/emulated/run/fsdp-run cuda cuda-other-order nccl nccl-other-order nccl-late
# On emulated GPUs, as threads and over the fake NCCL, stages give the bits of one stage, in any order of streams.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 200
# WAITS: for ranks in other processes
==== out
20 runs

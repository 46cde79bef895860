# RUN: FSDP_EMULATE_GPUS=4 %python %root/tests/runtime/ends.py %build/emulated/run %t --starts 2 --kills 5 --stops 1 --with '-n 4 --device cuda --transport nccl' 2>%t/times
# Ranks that fsdp-run starts itself end in time and alone, whether by themselves, killed or stopped.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 90
# WAITS: for time-outs

# RUN: for how in local damaged; do python3 %root/tests/checkpoint/restarts.py %fsdpc %fsdp-run $how 3; done
# A run that is killed resumes by itself from its newest intact checkpoint, with every bit and each step once in its log.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
3 runs: same
3 runs: same

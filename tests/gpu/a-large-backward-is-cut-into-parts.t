# RUN: FSDP_EMULATE_LOST=onepass %build/gpu/attention --workspace 100000 %build/tests/modules/device_cuda_emulated.so 2,2,140,64 | sed -nE 's/.*onepass.*apart ([^ ]*).*/lost: apart \1/p' || true
# RUN: %build/gpu/attention --workspace 100000 %build/tests/modules/device_cuda_emulated.so 2,2,140,64 | sed -nE 's/.*onepass.*apart [0-9.]+e[-+][0-9]+ .*/apart by roundings/p'
# Where the workspace is too small for all sums of dq, the one-pass backward does some batch entries, and some heads of one, at a time.
# NEEDS: build:tests/modules/device_cuda_emulated.so sanitizer:none
==== out
lost: apart 1.0e+00
apart by roundings

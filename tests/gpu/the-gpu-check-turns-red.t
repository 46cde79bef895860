# RUN: at() { %python %root/tests/gpu/rehearse.py %build %t run "$@" && exit 7; }; at kernel --only kernels; at wait --only smoke; at arena --only exact,arena; at crash --only smoke,arena; at hang --only exact --patience 0.03; true
# A wrong kernel, a lost wait, an arena of another size, a crash and a hang each fail the check.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
 add: differs: add 33, mixture 0: output 0, element 0 is N, not N (N times what is allowed); 1 of 33, the first 0; f32[33] f32[1] -> f32[33]
kernels FAILED N s 1 of N ops: add
0 rows without a fault, 1 failed: kernels
 tiny-whole-1 with CUDA_LAUNCH_BLOCKING=1 FSDP_CUDA_GRAPH=0: exit code 0
 tiny-whole-1 with FSDP_CUDA_GRAPH=0: exit code 0
 tiny-whole-1 with FSDP_CUDA_ATTENTION=own: exit code 2: error: the capture of a program: an error (cudaErrorStreamCaptureIsolation)
 tiny-whole-1 with FSDP_CUDA_GRAPH=0 under compute-sanitizer: exit code 0
smoke FAILED N s tiny-whole-1: exit code 2: error: the capture of a program: an error (cudaErrorStreamCaptureIsolation)
0 rows without a fault, 1 failed: smoke
exact held N s 1, 2 and 4 ranks: equal losses and weights
arena FAILED N s 3 of N runs; exact-1: N bytes, N predicted
1 rows without a fault, 1 failed: arena
 tiny-whole-1 with CUDA_LAUNCH_BLOCKING=1 FSDP_CUDA_GRAPH=0: exit code -11: SIGSEGV; it said nothing
 tiny-whole-1 with FSDP_CUDA_GRAPH=0: exit code -11: SIGSEGV; it said nothing
 tiny-whole-1 with FSDP_CUDA_ATTENTION=own: exit code -11: SIGSEGV; it said nothing
 tiny-whole-1 with FSDP_CUDA_GRAPH=0 under compute-sanitizer: exit code -11: SIGSEGV; it said nothing
smoke FAILED N s tiny-whole-1: exit code -11: SIGSEGV; it said nothing
 tiny-whole-2 with CUDA_LAUNCH_BLOCKING=1 FSDP_CUDA_GRAPH=0: exit code -11: SIGSEGV; it said nothing
 tiny-whole-2 with FSDP_CUDA_GRAPH=0: exit code -11: SIGSEGV; it said nothing
 tiny-whole-2 with FSDP_CUDA_ATTENTION=own: exit code -11: SIGSEGV; it said nothing
arena FAILED N s tiny-whole-2: exit code -11: SIGSEGV; it said nothing
0 rows without a fault, 2 failed: smoke, arena
exact FAILED N s exact-1: took longer than 2 s started
0 rows without a fault, 1 failed: exact

# RUN: cp %build/emulated/run/{fsdp-run,fsdpc,kernel_compare,device_cpu.so} %t; cp %build/emulated/run/device_cuda.so %t/device_real.so; cp %build/tests/modules/gpu_wrong.so %t/device_cuda.so; FSDP_TEST_SMALLEST=1 OMP_NUM_THREADS=1 %t/fsdp-run --device cuda --self-test --quiet --only add,mul,relu | sed -E 's/is [^(]*\(.*times/is (times/; s/ +/ /g'; echo "exit ${PIPESTATUS[0]}"; %build/fsdp-run --self-test --only add,addd; echo "exit $?"
# One wrong kernel fails its row and the self-test; a row that does not exist is the user's mistake.
# NEEDS: build:emulated/run/transport_nccl.so build:emulated/run/kernel_compare sanitizer:none
# TIME: 120
==== out
add FAILED differs: add 33, mixture 0: output 0, element 0 is (times what is allowed); 1 of 33, the first 0; f32[33] f32[1] -> f32[33]
2 passed, 1 failed, 0 skipped
exit 2
exit 1
==== err
error: --only addd: there is no such row
help: rows are kernels, attention, steps, ranks, or the name of one of them as --self-test prints it

# RUN: cp %build/device_cpu.so %t/device_real.so && cp %build/tests/modules/gpu_wrong.so %t/wrong.so
# RUN: %build/kernel_compare --smallest --op add %build/device_cpu.so %t/wrong.so | sed 's/is [^(]*(.*times/is (times/'
# A device with one wrong element in one kernel does not pass.
# NEEDS: build:device_cpu.so
==== out
  differs: add 33, mixture 0: output 0, element 0 is (times what is allowed); 1 of 33, the first 0; f32[33] f32[1] -> f32[33]
add                           2 runs   77.3050 of the allowed error (0.001 of 1.3e-05)  FAILED
cpu against cpu: 1 fault
==== exit 1

# RUN: FSDP_CPU_ISA=avx2 %build/kernel_compare --smallest %build/device_cpu.so %build/device_cpu.so | grep -c ' runs '
# RUN: for op in add linear rms_norm; do FSDP_CPU_ISA=avx2 %build/kernel_compare --op $op %build/device_cpu.so %build/device_cpu.so | tail -n 1; done
# RUN: %build/kernel_compare --terms
# The comparison that judges a GPU's kernels holds between the cpu device's own sets of kernels, and bounds no result by
# terms that are smaller than it.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
177
cpu against cpu: 0 faults
cpu against cpu: 0 faults
cpu against cpu: 0 faults
terms of 786 cases: 0 faults

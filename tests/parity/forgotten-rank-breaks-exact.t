# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so
# RUN: cp %build/device_cpu.so %t/bin && %python %root/tests/parity/ranks.py %fsdpc %t/bin/fsdp-run exact 2>/dev/null
# RUN: cp %build/tests/modules/forgetful.so %t/bin/device_cpu.so
# RUN: %python %root/tests/parity/ranks.py %fsdpc %t/bin/fsdp-run exact 2>&1 | cut -c 1-7
# A reduction that ignores one rank makes the test of ranks (exact) fail.
# TIME: 120
# NEEDS: sanitizer:none
==== out
exact: held
2 ranks
==== exit 1

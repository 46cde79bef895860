# RUN: %python %root/tests/parity/random_policies.py %fsdpc %fsdp-run 1 25
# Random models under random policies: checked plans, and the same bits as in one unit.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== out
25 models under 3 policies, 0 differ

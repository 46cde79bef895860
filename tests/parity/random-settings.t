# RUN: %python %root/tests/parity/random_settings.py %fsdpc %fsdp-run 1 40
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
# Random settings of section shard: checked plans, and the same bits as one unit.
==== out
40 combinations of settings, 0 differ

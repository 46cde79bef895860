# RUN: %python %root/tests/pipeline/shuffled.py %fsdpc %fsdp-run 12
# Streams in random order with delayed transfers change no bit of a pipeline (10,000 runs: shuffled.py .. 10000).
# NEEDS: build:device_cpu.so
# TIME: 120
==== out
12 runs

# RUN: %python %root/tests/parity/random_expressions.py %fsdpc %fsdp-run %build/tests/modules/without 8 10 2>/dev/null
# Random expressions have the loss, gradients and weights of the same text in double precision, or of unfused ops.
# TIME: 60
# NEEDS: python:numpy build:device_cpu.so build:tests/modules/without sanitizer:none
==== out
200 expressions, 0 wrong

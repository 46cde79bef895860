# RUN: FORM=full python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run layouts 10 && FORM=full python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run pieces 5
# From a checkpoint of form full, of any strategy and layout, any number of ranks goes on: the same state, and the same bits
# where the number stays.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
==== out
10 pairs: same
adamw: same
sgd: same
sgd without momentum: same
lion: same
adafactor: same

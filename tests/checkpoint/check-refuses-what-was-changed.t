# RUN: python3 %root/tests/checkpoint/tools.py %fsdpc %fsdp-run damage 8
# Of each file of a checkpoint: a flipped bit, a cut, an end too many, no file, that of another rank or step are
# refused with its name and with the newest checkpoint before it that is whole.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
all refused

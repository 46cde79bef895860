# RUN: python3 %root/tests/checkpoint/tools.py %fsdpc %fsdp-run convert 8
# convert writes the bytes of --save, of any type and in any number of files; and what it makes of weights is a
# checkpoint from which a run goes as from --load.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
8 models: same

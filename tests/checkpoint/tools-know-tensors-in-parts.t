# RUN: python3 %root/tests/checkpoint/tools.py %fsdpc %fsdp-run cuts 5 && FORM=full python3 %root/tests/checkpoint/tools.py %fsdpc %fsdp-run cuts 3
# A checkpoint of ranks along tp is checked, resharded for any number of ranks and for plans of other meshes, and converted
# to weights and back: every bit stays.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 240
==== out
5 pairs: same
5 models: same
3 pairs: same
3 models: same

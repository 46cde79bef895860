# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run repeated 2>/dev/null
# Two runs of a plan give the same bits.
# TIME: 240
==== out
repeated: held

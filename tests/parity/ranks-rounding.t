# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run rounding 2>/dev/null
# 1, 2, 3, 4 and 8 ranks with samples of their own give the same losses within rounding.
# TIME: 240
# NEEDS: sanitizer:none
==== out
rounding: held

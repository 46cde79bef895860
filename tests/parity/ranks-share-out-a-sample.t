# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run cut 2>/dev/null
# Ranks along tp share out the work on a sample: the same training, to the bit where sums are exact.
# TIME: 240
# NEEDS: sanitizer:none
==== out
cut: held

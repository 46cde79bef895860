# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run matrices 2>/dev/null
# Muon and Adafactor, which look at whole matrices, train alike whether ranks along tp share these out or not.
# TIME: 240
# NEEDS: sanitizer:none
==== out
matrices: held

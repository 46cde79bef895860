# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run policies 2>/dev/null
# NEEDS: sanitizer:none
# Strategy, units, prefetch and resharding never change a bit at equal ranks.
# TIME: 240
==== out
policies: held

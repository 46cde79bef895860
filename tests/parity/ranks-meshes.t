# RUN: %python %root/tests/parity/ranks.py %fsdpc %fsdp-run meshes 2>/dev/null
# NEEDS: sanitizer:none
# Shards with replicas, (rep, dp) of 2x2 to 4x2, train as one rank does; a mesh with only rep = 4 is DDP.
# TIME: 240
==== out
meshes: held

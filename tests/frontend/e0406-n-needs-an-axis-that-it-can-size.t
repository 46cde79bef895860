# RUN: for m in "rep = 2, tp = 2" "tp = 2" "rep = 2, dp = 2"; do %fsdpc dump --stage=shard %root/tests/nccl/net.fsd -s "shard.mesh=($m)" -n 8 2>&1 | grep "^error\|^mesh"; done; true
# -n sizes dp, or the only axis.
==== out
error[E0406]: -n sets the size of axis dp, which the mesh lacks
mesh tp = 8
mesh rep = 2, dp = 4

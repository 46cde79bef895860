# RUN: for s in "-n 4 -s shard.layout=param" "-n 4" "-n 4 -s shard.reshard_root=true" "--mesh rep=2,dp=4"; do %fsdpc dump --format=json $s -s shard.reshard=2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/sizes.py; done
# reshard = 2: forward gathers over 4 ranks what backward gathers in groups of 2 neighbours from twice as much.
==== out
AG 14 8 12 24 | 48 of 2 24 of 2 16 of 2
RS 24 12 8 14
AG 9 6 12 20 | 40 of 2 24 of 2 12 of 2
RS 20 12 6 9
AG 9 6 12 20 | 18 of 2 40 of 2 24 of 2 12 of 2
RS 20 12 6 9
AG 9 of 4 6 of 4 12 of 4 20 of 4 | 40 of 2 24 of 2 12 of 2
RS 20 of 4 12 of 4 6 of 4 9 of 4
AR 20 of 2 12 of 2 6 of 2 9 of 2

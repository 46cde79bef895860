# RUN: o() { echo "$*:"; %fsdpc dump --stage=sched -n 2 "$@" %root/tests/passes/model-t.fsd 2>&- | %python %root/tests/passes/order.py --memory | grep -v eval; }; n="-s shard.strategy=none"; o $n; o $n -s shard.bucket=81; o $n -s shard.bucket=400B; o $n -s shard.bucket=25MB; o -s shard.bucket=100; o -s shard.strategy=states -s shard.bucket=100 -s train.accumulate=2
# Units are reduced together, the last ones of the model first, as soon as they have so many elements (u2 80, u1 48, u0 24, root 36) or bytes.
==== out
-s shard.strategy=none:
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 S:u2 B:u1 S:u1 B:u0 S:u0 B:r S:r U M
-s shard.strategy=none -s shard.bucket=81:
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 S:u1 B:u0 B:r S:r U M
-s shard.strategy=none -s shard.bucket=400B:
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 S:u1 B:u0 B:r S:r U M
-s shard.strategy=none -s shard.bucket=25MB:
train: F:r F:u0 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r S:r U M
-s shard.bucket=100:
train: A:r A:u0 F:r A:u1 F:u0 X:u0 A:u2 F:u1 X:u1 F:u2 X:u2 F:r | A:u2 B:r X:r A:u1 B:u2 X:u2 A:u0 B:u1 X:u1 R:u1 B:u0 X:u0 B:r D:u1 R:r U D:r M
-s shard.strategy=states -s shard.bucket=100 -s train.accumulate=2:
first: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | B:r B:u2 B:u1 B:u0 B:r
last: F:r F:u0 F:u1 F:u2 F:r | B:r X:r B:u2 X:u2 B:u1 X:u1 R:u1 B:u0 X:u0 B:r R:r U M

# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' -s shard.prefetch_at=post %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory | grep train
# With prefetch_at = post the unit before is resharded when a gather is issued, so that no two are whole at once.
==== out
train: A:r F:r A:u0 F:u0 X:u0 A:u1 F:u1 X:u1 A:u2 F:u2 X:u2 F:r | B:r X:r A:u2 B:u2 X:u2 A:u1 R:u2 B:u1 X:u1 A:u0 D:u2 R:u1 B:u0 X:u0 D:u1 R:u0 B:r D:u0 R:r U D:r M

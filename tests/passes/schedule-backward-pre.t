# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py
# prefetch = (forward = 0, backward = 1) is the order of BACKWARD_PRE and of FSDP2.
==== out
train: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r | A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r F:r A:u0 F:u0 A:u1 F:u1 A:u2 F:u2 F:r M

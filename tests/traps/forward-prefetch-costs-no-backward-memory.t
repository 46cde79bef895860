# RUN: for f in 0 1 2; do for b in 0 1; do echo forward $f backward $b: $(%fsdpc dump --stage=sched -n 2 -s shard.inflight=3 -s "shard.prefetch=(forward = $f, backward = $b)" %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py | sed -n 's/^train.*| //p'); done; done
# Prefetch of forward makes reductions late and so raises the memory of backward; here backward is the same whatever it is.
==== out
forward 0 backward 0: B:r A:u2 B:u2 R:u2 A:u1 B:u1 R:u1 A:u0 B:u0 R:u0 B:r R:r U M
forward 0 backward 1: A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
forward 1 backward 0: B:r A:u2 B:u2 R:u2 A:u1 B:u1 R:u1 A:u0 B:u0 R:u0 B:r R:r U M
forward 1 backward 1: A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
forward 2 backward 0: B:r A:u2 B:u2 R:u2 A:u1 B:u1 R:u1 A:u0 B:u0 R:u0 B:r R:r U M
forward 2 backward 1: A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M

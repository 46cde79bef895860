# RUN: for n in 1 2 3 9; do %fsdpc dump --stage=sched -n 2 -s shard.reduce_buffers=$n %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory | sed -n 's/train.*|/|/p'; done
# The unsharded gradients of a unit are freed before those of the n-th unit after it are reduced.
==== out
| A:u2 B:r X:r A:u1 B:u2 X:u2 R:u2 A:u0 B:u1 X:u1 D:u2 R:u1 B:u0 X:u0 D:u1 R:u0 B:r D:u0 R:r U D:r M
| A:u2 B:r X:r A:u1 B:u2 X:u2 R:u2 A:u0 B:u1 X:u1 R:u1 B:u0 X:u0 D:u2 R:u0 B:r D:u1 R:r U D:u0 D:r M
| A:u2 B:r X:r A:u1 B:u2 X:u2 R:u2 A:u0 B:u1 X:u1 R:u1 B:u0 X:u0 R:u0 B:r D:u2 R:r U D:u1 D:u0 D:r M
| A:u2 B:r X:r A:u1 B:u2 X:u2 R:u2 A:u0 B:u1 X:u1 R:u1 B:u0 X:u0 R:u0 B:r R:r U D:u2 D:u1 D:u0 D:r M

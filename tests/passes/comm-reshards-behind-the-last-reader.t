# RUN: %fsdpc dump --stage=comm -n 2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py --memory
# reshard stands behind the last reader, free of a flat gradient behind the next unit's backward.
==== out
train: A:r F:r A:u0 F:u0 X:u0 A:u1 F:u1 X:u1 A:u2 F:u2 X:u2 F:r | B:r X:r A:u2 B:u2 X:u2 R:u2 A:u1 B:u1 X:u1 D:u2 R:u1 A:u0 B:u0 X:u0 D:u1 R:u0 B:r D:u0 R:r U D:r M
eval: A:r F:r A:u0 F:u0 X:u0 A:u1 F:u1 X:u1 A:u2 F:u2 X:u2 F:r X:r M

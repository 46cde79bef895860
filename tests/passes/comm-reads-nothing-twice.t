# RUN: %fsdpc dump --stage=train -n 2 %root/tests/passes/model-t.fsd | %fsdpc opt --pass=wrap | %fsdpc opt --pass=shard | %fsdpc opt --pass=optimizer | %fsdpc opt --pass=comm | %fsdpc opt --pass=schedule | %python %root/tests/passes/order.py
# A text graph behind comm can be scheduled: the passes need nothing but the text.
==== out
train: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | A:u2 B:r A:u1 B:u2 R:u2 A:u0 B:u1 R:u1 B:u0 R:u0 B:r R:r U M
eval: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r M

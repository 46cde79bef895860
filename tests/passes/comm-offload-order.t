# RUN: %fsdpc dump --stage=comm %root/tests/passes/model-t.fsd -n 2 -s "shard.offload=(params = cpu, grads = cpu)" | %python %root/tests/passes/order.py --copies | grep train | sed 's/ M .*//'
# RUN: for b in 1 2 3; do %fsdpc dump --stage=comm %root/tests/passes/model-t.fsd -n 2 -s "train.optimizer=sgd(lr = 1, momentum = 0.9)" -s "shard.offload=(states = cpu, buffers = $b)" | %python %root/tests/passes/order.py --copies | grep train | sed "s/.* M /buffers $b: /"; done
# A shard is fetched (I) before its gather; a reduced gradient leaves (O) one unit after its reduction, and its memory (D) one later. With more buffers the update fetches ahead and frees later.
==== out
train: I:r A:r F:r I:u0 A:u0 F:u0 I:u1 A:u1 F:u1 I:u2 A:u2 F:u2 F:r | B:r I:u2 A:u2 B:u2 R:u2 I:u1 A:u1 B:u1 B:- O:u2 D:u2 R:u1 I:u0 A:u0 B:u0 D:u2 B:- O:u1 D:u1 R:u0 B:r D:u1 B:- O:u0 D:u0 R:r D:u0 U O:- D:r D:r
buffers 1: I:- O:- D:u0 I:- O:- D:u1 I:- O:- D:u2 I:- O:- D:r
buffers 2: I:- I:- O:- D:u0 I:- O:- D:u1 I:- O:- D:u2 O:- D:r
buffers 3: I:- I:- O:- I:- O:- D:u0 I:- O:- D:u1 O:- D:u2 D:r

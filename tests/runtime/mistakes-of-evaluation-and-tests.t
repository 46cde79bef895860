# RUN: seq 300 > t.txt; seq 20 > v.txt; %fsdpc compile -q -n 2 -o p.bin m.fsd && ! %fsdp-run p.bin && %fsdpc compile -q -n 2 -s train.batch=2 -s train.eval_steps=9 -o q.bin m.fsd && ! %fsdp-run q.bin && FSDP_TEST_DROP_EDGE=2 %fsdp-run --data val=t.txt --quiet q.bin
# The help of a short validation set fits the plan; a test mode that cannot act is an error.
==== m.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("t.txt"); val = text("v.txt"); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 2; eval_every = 1; eval_steps = 1 }
==== err
error: evaluation reads eval_steps * batch = 16 samples, but data.val (v.txt) has only 8
help: compile with a smaller train.batch, or with -s train.eval_every=none
error: evaluation reads eval_steps * batch = 18 samples, but data.val (v.txt) has only 8
help: compile with -s train.eval_steps=4
error: FSDP_TEST_DROP_EDGE=2: must be a row of the edge table, and needs FSDP_TEST_STREAMS
==== exit 1

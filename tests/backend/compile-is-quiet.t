# RUN: %fsdpc compile -q tiny.fsd -n 2 -o %t/plan.bin
# RUN: %fsdpc compile -q tiny.fsd -s train.eval_steps=3 -o %t/plan.bin; %fsdpc compile tiny.fsd -s train.eval_steps=3 -o %t/plan.bin 2>&1 | grep -c ^warning
# RUN: k="tiny.fsd -n 2 -s shard.unit=Linear -s train.\"e.*\"=frozen -o %t/plan.bin"; %fsdpc compile -q $k; %fsdpc compile $k 2>&1 | grep -c ^note
# RUN: %fsdpc check %t/plan.bin
# With -q nothing is printed, neither warnings nor notes; check is silent on a good plan.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
1
1

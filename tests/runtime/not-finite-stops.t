# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 -s 'train.optimizer=sgd(lr = 1e30)' && %fsdp-run --quiet --threads 1 --log log --save w p.bin 2>err; c=$?; sed 's/(inf)/(nan)/' err >&2; ls w 2> /dev/null; grep -o '"loss":null,"grad_norm":null' log; exit $c
# A loss that is not finite ends the run with a code of its own, is logged as null, and --save has
# the weights before that step. Which of inf and nan comes first depends on how the processor multiplies.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== out
w
"loss":null,"grad_norm":null
==== err
error: step 1: loss nan, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (nan) is that of out toy.fsd:4:16: linear #9, on rank 0
help: train.on_nan = skip leaves such steps out
==== exit 5

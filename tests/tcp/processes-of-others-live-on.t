# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; for with in "--transport tcp -n 2" "--checkpoint ck --restarts 1"; do bash -c "sleep 300 & echo \$! > pid; exec %fsdp-run -q $with p"; echo "exit $?"; kill $(cat pid) && echo "sleep ran on"; done
# A shell that has started something may become fsdp-run, which ends only what it started itself.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
exit 0
sleep ran on
exit 0
sleep ran on

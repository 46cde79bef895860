# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && %fsdp-run --quiet --threads 1 --log log p.bin && grep -c '"event":"step"' log && tail -1 log | grep -o '"steps":[0-9]*'
# 1092 bytes are 218 samples of 5 + 1; two epochs of them in batches of 50 are 9 steps, the last partly new.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 50; epochs = 2; optimizer = sgd(lr = 0.1) }
==== out
9
"steps":9

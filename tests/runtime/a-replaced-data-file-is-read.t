# RUN: seq 300 > t.txt; seq 300 | tac > u.txt; cp t.txt v.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2
# RUN: for f in t u v; do %fsdp-run --quiet --threads 1 --data train=$f.txt --save $f p.bin; done; cmp t v && ! cmp -s t u && echo other
# --data takes the place of the plan's file.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("none.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
other

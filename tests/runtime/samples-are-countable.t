# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin && %fsdp-run --steps 1 p.bin
# A plan of more samples than a number holds is refused, not counted wrongly.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy { emb : Embedding(128, 4); out : Linear(4, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 65536; steps = 900000000000000; optimizer = sgd(lr = 0.1) }
==== err
error: the plan's steps read more samples or tokens than can be counted
help: compile with smaller train.steps, train.batch or data.length
==== exit 1

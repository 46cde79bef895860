# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p && for s in 1 2; do %fsdp-run -q --steps $s --save w$s p; done; python3 %root/tests/runtime/crash.py %fsdp-run %build/tests/modules/crash.so p w1 w2
# A save that is killed at any call, or that fails at any, leaves the old weights, the new ones, or
# what is refused: never a mixture. One that fails keeps the new weights somewhere and says where.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
config hf { model_type = "toy" }
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
nothing to file, killed: killed refused
nothing to file, disk full: kept w2
file to file, killed: killed w1
file to file, disk full: kept w2
nothing to parts, killed: killed refused, killed w2
nothing to parts, disk full: done w2, kept w2
one to one, killed: killed refused, killed w1, killed w2
one to one, disk full: done w2, kept w2
same to one, killed: killed w1, killed w2
same to one, disk full: done w2, kept w2
one to parts, killed: killed refused, killed w1, killed w2
one to parts, disk full: done w2, kept w2
parts to parts, killed: killed refused, killed w1, killed w2
parts to parts, disk full: done w2, kept w2
parts to one, killed: killed refused, killed w1, killed w2
parts to one, disk full: done w2, kept w2

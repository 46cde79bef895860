# RUN: seq 300 >t.txt; %fsdpc compile -q toy.fsd -o p; for s in 9KB 8KiB 8KB 1KB; do %fsdp-run -q --steps 0 --max-file $s --save f$s/ p; echo $s: $(ls f$s | grep -c safetensors$); done
# A file takes tensors as long as they fit, the last one exactly; a larger tensor has one to itself.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
9KB: 1
8KiB: 1
8KB: 2
1KB: 2

# RUN: seq 300 >t.txt; %fsdpc compile -q toy.fsd -o p; ulimit -f 16; %fsdp-run -q --save w p 2>&1; echo $?; ls w 2>&1; %fsdp-run -q --steps 0 --max-file 12KB --save f/ p; echo $?; ls f
# A limit on the size of files is heeded before the first step: of a folder by its largest file.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
error: cannot write w: it needs 24768 bytes, and the limit on a file's size (ulimit -f) is 16384 bytes
2
ls: cannot access 'w': No such file or directory
0
model-00001-of-00002.safetensors
model-00002-of-00002.safetensors
model.safetensors.index.json

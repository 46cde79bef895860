# RUN: seq 300 > t.txt; printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x80' > bad.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 -s data.order=sequential && %fsdp-run --quiet --threads 1 --data train=bad.txt --log log p.bin; c=$?; grep -c '"event":"step"' log; exit $c
# An id that the model cannot take is named with file and byte, and its step updates nothing.
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
1
==== err
error: rank 1: bad.txt: byte 60: 128 in field targets is outside the model's range (0 to 127)
==== exit 3

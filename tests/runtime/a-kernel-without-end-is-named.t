# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && TARDY="work 1 7 1000" FSDP_TIMEOUT=1 timeout 3000 %t/bin/fsdp-run --threads 1 --quiet --save %t/w p; c=$?; ls %t; exit $c
# A kernel that computes without an end is named when it has used ten times the time-out of CPU time, 10 s here.
# TIME: 300
# NEEDS: build:device_cpu.so sanitizer:none
==== toy.fsd
module Toy {
  emb : Embedding(128, 12)
  fc : Linear(12, 12)[3]
  out : Linear(12, 128)
  forward(x) {
    x = emb(x)
    for l in fc { x = relu(l(x)) }
    return out(x)
  }
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0 }
shard { unit = Linear }
==== out
bin
==== err
error: rank 1 made no progress for 10 s (its last instruction: toy.fsd:7:23: relu #23); rank 0 waits for it to come to out toy.fsd:4:3: unshard #24, all_gather number 4 of the gathers among these ranks
help: FSDP_TIMEOUT=SECONDS waits longer
==== exit 4

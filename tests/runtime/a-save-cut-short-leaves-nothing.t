# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; FSDP_TIMEOUT=4 TARDY="copy 0 1000" timeout 400 %t/bin/fsdp-run --threads 1 --quiet --steps 0 --save w p; echo $?; ls | grep -c ^w || true
# RUN: TARDY="copy 0 1000" %t/bin/fsdp-run --threads 1 --quiet --steps 0 --save w p & p=$!; until ls w.part-* > part 2> /dev/null; do sleep 0.1; done; for i in 1 2; do sleep 1; kill -INT $p; done; wait; sed s/-.*// part; ls | grep -c ^w || true
# A save that a hung rank or a second Ctrl-C ends leaves no half of a file.
# NEEDS: build:device_cpu.so
# WAITS: for a run that is under way
==== toy.fsd
module Toy {
  emb : Embedding(128, 12)
  out : Linear(12, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
==== out
4
0
w.part
0
==== err
error: rank 0 made no progress for 4 s (its last instruction: none); rank 1 waits for it to finish a checkpoint, all_gather number 0 of the messages of the run among these ranks
help: FSDP_TIMEOUT=SECONDS waits longer

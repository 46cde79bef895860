# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; mkdir small; unshare --mount bash in_little.sh %fsdp-run
# Where the disk has room for --save and for --dump-grads, but not for both, the run does not begin.
# NEEDS: build:device_cpu.so network:namespaces tool:unshare
==== toy.fsd
module Toy {
  emb : Embedding(128, 64)
  out : Linear(64, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== in_little.sh
mount -t tmpfs -o size=96k none small || exit
for a in "--save small/w" "--dump-grads 0=small/g" "--dump-grads 0=small/g --save w" "--dump-grads 0=small/g --save small/w"; do
    "$1" --quiet --threads 1 $a p
    echo "$a: $?"
    rm -f small/*
done
==== out
--save small/w: 0
--dump-grads 0=small/g: 0
--dump-grads 0=small/g --save w: 0
--dump-grads 0=small/g --save small/w: 2
==== err
error: cannot write small/w: it needs 131456 bytes with --dump-grads, and 98304 are free on its disk
help: an existing file is replaced only when the new one is complete

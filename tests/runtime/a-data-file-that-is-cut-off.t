# RUN: %fsdpc compile -q toy.fsd -o p.bin -s train.steps=1000000000
# RUN: for size in 0 139999; do seq 30000 | head -c 140000 > t.txt; rm -f log; timeout 400 %fsdp-run --quiet --threads 1 --log log p.bin & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; truncate -s $size t.txt; wait $p; echo $?; done
# A data file that is cut off while it is used, by pages or by a byte, is a corrupt input, not a crash and not zeros.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 500 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
3
3
==== err
error: t.txt: truncated to 0 bytes while in use; it had 140000 bytes when the run began
error: t.txt: truncated to 139999 bytes while in use; it had 140000 bytes when the run began

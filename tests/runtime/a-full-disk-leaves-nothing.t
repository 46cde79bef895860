# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 -s train.steps=1000000000; (ulimit -f 2 && %fsdp-run --quiet --threads 1 --save w p.bin; echo "exit $?")
# RUN: TMPDIR=$PWD/none %fsdp-run --quiet --threads 1 --log log --save w p.bin & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; prlimit --pid $p --fsize=2000; wait $p; c=$?; ls; exit $c
# A limit that is too small is seen before the run. A disk that fills up ends the run and leaves no half of a file.
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
exit 2
log
p.bin
t.txt
toy.fsd
==== err
error: cannot write w: it needs 4280 bytes, and the limit on a file's size (ulimit -f) is 2048 bytes
error: rank 0: cannot write w: File too large
==== exit 2

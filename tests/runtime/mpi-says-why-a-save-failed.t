# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; mkdir d; %fsdp-run --transport mpi --quiet --threads 1 --log log --save d/w p 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; rm -r d; kill -INT $p; wait $p; c=$?; sed 's/ (process [^)]*)//; s/-[0-9]*$//' err >&2; exit $c
# A save that fails on rank 0 ends all processes with its reason and its code.
# NEEDS: tool:mpirun build:transport_mpi.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 1000000000; optimizer = sgd(lr = 0.1) }
==== err
error: rank 0: cannot write d/w: there is no folder d/
help: the file was kept as w.kept
==== exit 2

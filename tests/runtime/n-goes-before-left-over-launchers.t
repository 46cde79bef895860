# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; for t in local mpi; do RANK=0 WORLD_SIZE=4 %fsdp-run -n 2 --transport $t --quiet --threads 1 --save $t p; done; cmp local mpi && echo same
# With -n, variables that another launcher left do not matter, also where mpirun starts the ranks.
# NEEDS: tool:mpirun build:transport_mpi.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
same

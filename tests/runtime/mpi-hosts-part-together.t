# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2
# RUN: FSDP_TEST_HOSTS=2 FSDP_TIMEOUT=5 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 %fsdp-run -q --threads 1 p
# At the end of a run each host says that it leaves and hears it from the others; where one did not, the end would take too long.
# NEEDS: tool:mpirun build:transport_mpi.so
# WAITS: for ranks in other processes
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = adamw(lr = 0.01) }

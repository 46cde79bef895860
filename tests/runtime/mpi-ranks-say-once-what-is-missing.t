# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin; seq 300 > t.txt; %fsdpc compile -q m.fsd -o p -n 2 && %t/bin/fsdp-run --transport mpi p
# Ranks that mpirun starts and that cannot start for want of their device say so once, and nobody says that no rank did.
# NEEDS: tool:mpirun build:transport_mpi.so
==== m.fsd
module M {
  emb : Embedding(128, 12)
  out : Linear(12, 128)
  forward(x) = out(emb(x))
}
model = M
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== err
error: device cpu: there is no module device_cpu.so next to fsdp-run
==== exit 2

# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2; %fsdp-run --transport nccl -n 2 p.bin; echo $?; RANK=1 WORLD_SIZE=2 %fsdp-run --transport nccl p.bin; echo $?; RANK=1 WORLD_SIZE=2 %fsdp-run p.bin; echo $?
# Ranks of transport nccl have GPUs: without, one of them says so and nobody waits.
# NEEDS: build:transport_nccl.so build:device_cpu.so
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
1
1
1
==== err
error: transport nccl works with device cuda, not cpu
help: --device cuda; on CPUs --transport mpi, or local
error: transport nccl works with device cuda, not cpu
help: --device cuda; on CPUs --transport mpi, or local
error: torchrun (RANK, WORLD_SIZE) started 2 processes, which need transport nccl and so device cuda, not cpu
help: --device cuda; or, without torchrun, fsdp-run -n 2, or mpirun -n 2 fsdp-run

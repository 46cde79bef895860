# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2; %fsdp-run --transport nccl -n 2 p.bin; echo $?; RANK=1 WORLD_SIZE=2 %fsdp-run --transport nccl p.bin; echo $?; RANK=1 WORLD_SIZE=2 %fsdp-run p.bin; echo $?
# Ranks of transport nccl need GPUs: without them, one rank reports it and none waits.
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
help: use --device cuda; on CPUs --transport mpi or local
error: transport nccl works with device cuda, not cpu
help: use --device cuda; on CPUs --transport mpi or local
error: torchrun says rank 1 of 2, but LOCAL_RANK is not set
help: LOCAL_RANK is the number of this process on its host, from 0; it chooses the GPU

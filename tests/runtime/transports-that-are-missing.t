# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2; mkdir %t/b; cp %build/fsdp-run %build/device_cpu.so %t/b
# RUN: ! %t/b/fsdp-run --transport nccl p.bin && ! RANK=0 WORLD_SIZE=2 %t/b/fsdp-run --device cpu p.bin && %t/b/fsdp-run --transport mpi p.bin
# A transport that this build lacks is an error of the environment, and the message lists those that it has.
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
==== err
error: transport nccl is not in this build of fsdp-run, which has local
help: --transport local runs all ranks as threads of one process: fsdp-run -n 2
error: transport tcp is not in this build of fsdp-run, which has local
note: torchrun and device cpu need transport tcp
help: --transport local runs all ranks as threads of one process: fsdp-run -n 2
error: transport mpi is not in this build of fsdp-run, which has local
help: --transport local runs all ranks as threads of one process: fsdp-run -n 2
==== exit 2

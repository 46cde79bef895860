# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2 && ! RANK=0 WORLD_SIZE=4 %fsdp-run p.bin && ! RANK=1 %fsdp-run p.bin && ! RANK=0 WORLD_SIZE=2 %fsdp-run --transport local p.bin && ! OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=2 %fsdp-run p.bin && ! SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=8 %fsdp-run p.bin && ! RANK=x WORLD_SIZE=2 %fsdp-run p.bin
# Launchers are found by their variables, torchrun before Open MPI before Slurm, and nonsense is refused.
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
error: p.bin was compiled for 2 ranks, but torchrun's environment asks for 4
help: fsdpc compile toy.fsd -o p.bin -n 4
error: RANK is set, but WORLD_SIZE is not
help: torchrun sets both; if it is left over, hide it: env -u RANK fsdp-run ...; -n RANKS starts without a launcher
error: transport local keeps all ranks in one process, but torchrun started 2 processes
help: start fsdp-run -n 2 once, without a launcher
error: Open MPI says rank 5 of 2
help: ranks are numbered from 0; check OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE
error: p.bin was compiled for 2 ranks, but Slurm's environment asks for 8
help: fsdpc compile toy.fsd -o p.bin -n 8
error: RANK=x in the environment is not a rank or a count
help: set it to a whole number, or hide it: env -u RANK fsdp-run ...

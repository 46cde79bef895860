# RUN: seq 300 > t.txt; bash each.sh %fsdpc "%fsdp-run"
# mpirun starts ranks; wrong counts, launchers that MPI does not know, and two at once are errors of all ranks.
# NEEDS: tool:mpirun build:transport_mpi.so
# WAITS: for mpirun
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== each.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
m="mpirun -q --oversubscribe --bind-to none -n 2"
$1 compile -q toy.fsd -o p.bin -n 2; $1 compile -q toy.fsd -o p3.bin -n 3
end() { sort -u errors | sed 's/^/    /' >&2; echo "$1"; }
$m "$2" --threads 1 p.bin >summary 2>errors; grep -v "^step" errors >e; mv e errors; end "mpirun $?"
$m "$2" p3.bin 2>errors; end "another plan size $?"
$m "$2" -n 2 p.bin 2>errors; end "-n too $?"
RANK=1 WORLD_SIZE=4 $m "$2" p.bin 2>errors; end "torchrun too $?"
SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 "$2" p.bin 2>errors; end "no Slurm there $?"
==== out
mpirun 0
another plan size 1
-n too 1
torchrun too 1
no Slurm there 1
==== err
    device cpu, transport mpi, 2 ranks of 1 thread
    launcher Open MPI: rank 0 of 2, local rank 0 of 2
    error: p3.bin was compiled for 3 ranks, but Open MPI's environment asks for 2
    help: fsdpc compile toy.fsd -o p3.bin -n 2
    error: two launchers at once: -n 2, and Open MPI, which started 2 processes
    help: leave out -n, and let Open MPI start one process per rank of the plan
    error: two launchers at once: torchrun says rank 1 of 4, Open MPI says rank 0 of 2
    error: two launchers at once: torchrun says rank 1 of 4, Open MPI says rank 1 of 2
    help: start fsdp-run with one of them; env -u VARIABLE hides a variable that is left over
    error: Slurm says rank 1 of 2, MPI says rank 0 of 1
    help: transport mpi needs a launcher that this MPI library knows: mpirun -n 2 fsdp-run ..., or srun --mpi=pmix; fsdp-run --transport mpi -n 2 starts them itself

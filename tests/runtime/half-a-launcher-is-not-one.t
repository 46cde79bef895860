# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 1; bash each.sh "%fsdp-run -q --log"
# One of a launcher's two variables without the other is an error that names it; a Slurm job has only one, whatever tasks it asked for, and the whole run happens there.
# NEEDS: build:device_cpu.so
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
for half in RANK=1 WORLD_SIZE=5 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=5 SLURM_PROCID=1 SLURM_NTASKS=5 \
    "SLURM_PROCID=0 SLURM_NTASKS=5" SLURM_STEP_NUM_TASKS=5 PMI_RANK=1 PMI_SIZE=5; do
    rm -f log
    env $half $1 log p 2>&1 | sed '2s/;.*//'
    echo "$half: ${PIPESTATUS[0]}, $(cat log 2>/dev/null | grep -c '"step"') steps in the log"
    env $half $1 log -n 1 p || echo "-n 1 failed beside $half"
done
==== out
error: RANK is set, but WORLD_SIZE is not
help: torchrun sets both
RANK=1: 1, 0 steps in the log
error: WORLD_SIZE is set, but RANK is not
help: torchrun sets both
WORLD_SIZE=5: 1, 0 steps in the log
error: OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not
help: Open MPI sets both
OMPI_COMM_WORLD_RANK=1: 1, 0 steps in the log
error: OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is not
help: Open MPI sets both
OMPI_COMM_WORLD_SIZE=5: 1, 0 steps in the log
SLURM_PROCID=1: 0, 4 steps in the log
SLURM_NTASKS=5: 0, 4 steps in the log
SLURM_PROCID=0 SLURM_NTASKS=5: 0, 4 steps in the log
SLURM_STEP_NUM_TASKS=5: 0, 4 steps in the log
error: PMI_RANK is set, but PMI_SIZE is not
help: PMI sets both
PMI_RANK=1: 1, 0 steps in the log
error: PMI_SIZE is set, but PMI_RANK is not
help: PMI sets both
PMI_SIZE=5: 1, 0 steps in the log

# RUN: bash each.sh %build/tests/modules/tcp_process 2>&1
# Ranks started by hand, or by a launcher that does not provide them, need host, port and local rank; missing ones are reported.
# NEEDS: build:tests/modules/tcp_process
==== each.sh
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT FSDP_NCCL_PORT ${!OMPI_*} ${!SLURM_*} ${!PMI_*} ${!TORCHELASTIC_*}
p=$1
by() { env "$@" $p where; echo "    $?"; }
hand="RANK=1 WORLD_SIZE=4 LOCAL_RANK=1"
by $hand MASTER_ADDR=node7 MASTER_PORT=29500 FSDP_NCCL_PORT=1234
by $hand MASTER_PORT=29500
by $hand MASTER_ADDR=node7
by $hand MASTER_ADDR=node7 MASTER_PORT=65535
by $hand MASTER_ADDR=node7 FSDP_NCCL_PORT=70000
by RANK=1 WORLD_SIZE=4 MASTER_ADDR=node7 MASTER_PORT=29500
by OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2
by PMI_RANK=0 PMI_SIZE=2 MASTER_ADDR=node7 PMI_JOBID=j LOCAL_RANK=0
==== out
torchrun: rank 1 of 4, local 1, at node7 port 1234
    0
error: RANK is set, but MASTER_ADDR is not
help: torchrun sets both; by hand, MASTER_ADDR is the host of rank 0, the same for all ranks
    1
error: torchrun says rank 1 of 4, but MASTER_PORT is not set
help: set MASTER_PORT (or FSDP_NCCL_PORT) to a port that is free on rank 0's host, the same for all ranks
    1
error: MASTER_PORT=65535 leaves no port after it for the ranks to meet
help: set FSDP_NCCL_PORT to a free port for all ranks
    1
error: FSDP_NCCL_PORT=70000 in the environment is not a port (1 to 65535)
help: set it to a port that is free on rank 0's host, the same for all ranks
    1
error: torchrun says rank 1 of 4, but LOCAL_RANK is not set
help: LOCAL_RANK is the number of this process on its host, from 0; it chooses the GPU
    1
error: Open MPI does not say which host rank 0 is on, and the ranks are on several hosts
help: set MASTER_ADDR to that host for all ranks: mpirun -x MASTER_ADDR=HOST ...
    1
PMI: rank 0 of 2, local 0, at node7 port 25000
    0

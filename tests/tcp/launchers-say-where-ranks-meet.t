# RUN: bash each.sh %build/tests/modules/tcp_process 2>&1
# Rank 0 is met beside torchrun's own port; without MASTER_ADDR and ports, Open MPI and Slurm say where rank 0 is, and the port is made of the job's name.
# NEEDS: build:tests/modules/tcp_process
==== each.sh
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT FSDP_NCCL_PORT ${!OMPI_*} ${!SLURM_*} ${!PMI_*} ${!TORCHELASTIC_*}
p=$1
by() { env "$@" $p where; }
by RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=node7 MASTER_PORT=29500
mpi="OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_NAMESPACE=job1"
by $mpi OMPI_COMM_WORLD_LOCAL_SIZE=4
by $mpi OMPI_COMM_WORLD_LOCAL_SIZE=2 MASTER_ADDR=node7
slurm="SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=1 SLURM_JOB_ID=77 SLURM_STEP_ID=0"
by $slurm SLURM_STEP_NODELIST=node[08-11,14],other SLURM_STEP_NUM_NODES=5
by $slurm SLURM_STEP_NODELIST=rack[2-3]n[7,9] SLURM_JOB_NODELIST=x MASTER_PORT=1000
by $slurm SLURM_STEP_NODELIST=b.example.org,c SLURM_STEP_NUM_NODES=2
by $slurm SLURM_STEP_NODELIST=node4 SLURM_STEP_NUM_NODES=1
==== out
torchrun: rank 1 of 4, local 1, at node7 port 29501
Open MPI: rank 1 of 4, local 1, at 127.0.0.1 port 21959
Open MPI: rank 1 of 4, local 1, at node7 port 21959
Slurm: rank 5 of 8, local 1, at node08 port 24411
Slurm: rank 5 of 8, local 1, at rack2n7 port 1001
Slurm: rank 5 of 8, local 1, at b.example.org port 24411
Slurm: rank 5 of 8, local 1, at 127.0.0.1 port 24411

# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s train.steps=2 -o p -n 2; for v in "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2" "PMI_RANK=0 PMI_SIZE=2" "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2" "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1"; do env $v %fsdp-run -q -n 2 p 2>&1; echo $?; done
# With -n each process of a launcher would train the whole model.
# NEEDS: build:device_cpu.so
==== out
error: two launchers at once: -n 2, and Slurm, which started 2 processes
help: leave out -n, and let Slurm start one process per rank of the plan
1
error: two launchers at once: -n 2, and PMI, which started 2 processes
help: leave out -n, and let PMI start one process per rank of the plan
1
error: two launchers at once: -n 2, and Open MPI, which started 2 processes
help: leave out -n, and let Open MPI start one process per rank of the plan
1
0

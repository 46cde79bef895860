# RUN: seq 300 > t.txt; cp %root/tests/checkpoint/toy.fsd .; %fsdpc compile -q toy.fsd -n 2 -o p; export FSDP_TEST_HOSTS=2; %fsdp-run --transport mpi --threads 1 --steps 1 --checkpoint ck p 2> e > %t/o; %fsdp-run --transport mpi --threads 1 --steps 1 p 2>> e > %t/o; grep '^note' e | sed 's/[0-9.]* GiB/N GiB/g'
# A run on several hosts says at its start whether the ranks of a lost one fit beside those of one that stays; where it
# makes no checkpoints, it could not go on.
# NEEDS: tool:mpirun build:transport_mpi.so
==== out
note: if a host is lost, its ranks also fit on this one: 2 ranks take N GiB, and N GiB are available

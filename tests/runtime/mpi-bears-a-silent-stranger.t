# RUN: seq 300 > t.txt; %fsdpc compile -q -s train.steps=1000000000 %root/tests/runtime/toy.fsd -o p -n 2; python3 %root/tests/runtime/stranger.py %build/fsdp-run p
# Ranks of one machine listen nowhere, and a connection to mpirun that says nothing does not hold the end of a run back for long.
# NEEDS: tool:mpirun tool:ss build:transport_mpi.so build:device_cpu.so
# WAITS: for mpirun, which waits for the stranger
==== out
ports of ranks: 0
exit 130 weights

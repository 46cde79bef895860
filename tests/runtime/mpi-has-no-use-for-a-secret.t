# RUN: seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -o p -n 2; FSDP_SECRET=a-long-secret-of-this-run %fsdp-run -q --transport mpi p
# A secret that Open MPI would not ask for is refused, not ignored.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so
==== err
error: FSDP_SECRET has no effect with transport mpi: Open MPI connects the ranks and does not check it
help: env -u FSDP_SECRET -u FSDP_SECRET_FILE fsdp-run ... starts without a secret
==== exit 1

# RUN: %python %root/tests/pipeline/ways.py %fsdpc %fsdp-run mpi mpi-hosts mpi-hosts-overlap tcp
# Messages between processes, in shared memory, by MPI and over TCP, give the bits of one stage on threads.
# NEEDS: sanitizer:none tool:mpirun build:transport_mpi.so build:transport_tcp.so
# TIME: 120
# WAITS: for ranks in other processes
==== out
16 runs

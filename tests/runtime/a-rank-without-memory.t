# RUN: %python %root/tests/runtime/out_of_memory.py %build %t
# A rank that the kernel kills because memory ran out ends all with code 4 and one message that names it.
# NEEDS: tool:mpirun build:transport_mpi.so cgroup:memory
# TIME: 90
==== out
4
error: rank 1 (process N on HOST) was killed or ended without a message; ...
help: the kernel's log (dmesg) tells whether memory ran out; start the run again

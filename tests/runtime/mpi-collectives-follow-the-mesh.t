# RUN: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; m() { mpirun -q --oversubscribe --bind-to none -n $1 %build/tests/modules/mpi_ranks %build/transport_mpi.so "${@:2}"; }; m 6 1 2 3; m 6 3 2 3; m 8 2 2 2 2
# Each collective along each set of axes, between ranks of one host and of several; on one host a rank that brings other
# sizes, another dtype or collective is named.
# NEEDS: tool:mpirun build:tests/modules/mpi_ranks sanitizer:none
# WAITS: for mpirun
==== out
6 ranks on one host
6 ranks on several
8 ranks on several

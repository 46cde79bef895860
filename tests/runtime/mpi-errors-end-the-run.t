# RUN: cp %root/tests/runtime/toy.fsd toy.fsd; seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && FSDP_TEST_HOSTS=2 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 env LD_PRELOAD=%build/tests/modules/mpi_broken.so %fsdp-run --transport mpi -q --threads 1 p 2>&1 | sed "s|#[0-9]*|#N|"; echo ${PIPESTATUS[0]}
# An error of MPI ends the run, even where it is said of requests that are done: what they brought may be wrong.
# NEEDS: sanitizer:none tool:mpirun build:tests/modules/mpi_broken.so
==== out
error: fc.1 toy.fsd:5:3: reduce_scatter #N, reduce_scatter number 8 of the reductions among these ranks: MPI says: MPI_ERR_INTERN: internal error
4

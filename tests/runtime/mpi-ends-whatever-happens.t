# RUN: %python %root/tests/runtime/ends.py %build %t --starts 3 --kills 3 --stops 1 2>%t/times
# RUN: FSDP_TEST_HOSTS=2 %python %root/tests/runtime/ends.py %build %t --starts 1 --kills 2 --stops 1 --with '--transport mpi --overlap on' 2>%t/times
# Runs of processes end in time and alone, whether by themselves, killed or stopped (tests/bench/ends: 200 of them).
# NEEDS: tool:mpirun build:transport_mpi.so sanitizer:none
# TIME: 120
# WAITS: for time-outs

# RUN: %root/tests/bench/hosts --build %build --only cut-off > %t/out; c=$?; if [ $c = 0 ]; then cut -d: -f1 %t/out | grep -v "^ *$"; else cat %t/out; fi; exit $c
# When a host is cut off the other ones end, and so does mpirun, which would wait for it for many minutes.
# NEEDS: network:namespaces tool:mpirun build:transport_mpi.so sanitizer:none
# TIME: 180
# WAITS: for time-outs
==== out
ok
    error
    help

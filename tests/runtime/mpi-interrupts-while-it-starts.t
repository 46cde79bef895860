# RUN: mkdir bin && cp mpirun bin && chmod +x bin/mpirun; seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -o p -n 2; export REAL=$(which mpirun) PATH=$PWD/bin:$PATH; for when in before ranks; do for s in INT TERM USR1; do WHEN=$when %fsdp-run -q --threads 1 --transport mpi --save w p & p=$!; until [ -e there ]; do sleep 0.1; done; kill -$s $p; wait $p; echo $when $s: $?; rm there; done; done; test ! -e w
# An interrupt before the ranks have met, or before there are any, ends the start at once with code 130 and no complaint.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so
# WAITS: for mpirun
==== mpirun
#!/bin/bash
if [ $WHEN = before ]; then touch there; exec sleep 1000; fi
exec "$REAL" -q --oversubscribe --allow-run-as-root -n 2 bash -c 'touch there; exec sleep 1000'
==== out
before INT: 130
before TERM: 130
before USR1: 130
ranks INT: 130
ranks TERM: 130
ranks USR1: 130

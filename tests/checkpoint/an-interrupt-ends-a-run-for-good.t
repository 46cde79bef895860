# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p -s train.steps=100000000; for how in local mpi; do %fsdp-run -q --threads 1 --transport $how -n 2 --checkpoint ck.$how --checkpoint-every 1000000 --restarts 3 --log log.$how p & run=$!; until grep -q '"step":9,' log.$how 2> /dev/null; do sleep 0.1; done; kill $run; wait $run; echo "exit $?"; ls ck.$how | sed 's/-.*//'; done
# An interrupted run under --restarts makes its checkpoint and is not started again.
# NEEDS: tool:mpirun build:device_cpu.so build:transport_mpi.so
# TIME: 60
==== out
exit 130
lock
step
exit 130
lock
step

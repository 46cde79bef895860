# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -n 2 -o p
# RUN: exec 2>/dev/null; FSDP_TEST_HOSTS=2 FSDP_TIMEOUT=2 timeout 60 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 bash rank.sh %t/bin/fsdp-run; echo $?
# Ranks on several hosts whose run is over kill a launcher that does not end, here because it is stopped.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# WAITS: for a time-out and the patience with the launcher
==== rank.sh
case $OMPI_COMM_WORLD_RANK in
0) (until [ -e sign ]; do sleep 0.1; done; kill -STOP $PPID) & ;;
1) export TARDY="sleep 1 1 6" TARDY_SIGN=sign ;;
esac
exec "$1" --transport mpi -q --threads 1 p
==== out
137

# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -n 2 -o p
# RUN: TARDY="sleep 0 1 20" FSDP_TEST_HOSTS=2 FSDP_TIMEOUT=2 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 %t/bin/fsdp-run --transport mpi -q --threads 1 p 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/; s/rank 1 waited for it in .*/.../'
# Rank 0 is named as any other rank is if it does not come.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# WAITS: for a time-out
==== out
error: rank 0 (process P) did not answer within 2 s; ...
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer
==== exit 4

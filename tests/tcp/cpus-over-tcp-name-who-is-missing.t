# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_tcp.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 3000 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -n 2 -o p; FSDP_TIMEOUT=2 TARDY="sleep 1 1 5" %t/bin/fsdp-run --transport tcp -q --threads 1 p 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/'; echo ${PIPESTATUS[0]}
# A rank that sleeps between two collectives of transport tcp waits in neither: it is named, not the one that it has left.
# NEEDS: build:device_cpu.so build:transport_tcp.so build:tests/modules/tardy.so
# WAITS: for a rank that sleeps
==== out
error: rank 1 (process P) did not reach fc.1 toy.fsd:5:3: unshard #14, number 2 of the gathers among these ranks within 2 s; 1 of 2 ranks wait there
help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
4

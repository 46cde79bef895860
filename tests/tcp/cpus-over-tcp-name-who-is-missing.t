# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_tcp.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 3000 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -n 2 -o 1; %fsdpc compile -q %root/tests/pipeline/net.fsd --mesh pp=2,dp=1 -o 30; for p in 1 30; do { FSDP_TIMEOUT=3 TARDY="sleep 1 $p 7" %t/bin/fsdp-run --transport tcp -q --threads 1 $p 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/' > $p.said; echo ${PIPESTATUS[0]} >> $p.said; } & done; wait; cat *.said
# A rank that sleeps between two collectives of transport tcp waits in neither: it is named,
# with its place in a pipeline, and not as one that waits where it has been before.
# NEEDS: build:device_cpu.so build:transport_tcp.so build:tests/modules/tardy.so
# WAITS: for a rank that sleeps
==== out
error: rank 1 (process P) did not reach fc.1 toy.fsd:5:3: unshard #14, number 2 of the gathers among these ranks within 3 s; 1 of 2 ranks wait there
help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
4
error: rank 1 (process P) did not reach h.3.norm net.fsd:6:43: receive #262, number 1 of its messages within 3 s; 1 of 2 ranks wait there; it was in stage 1, micro-batch 1
help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
4

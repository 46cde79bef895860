# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p --mesh rep=2,dp=2
# RUN: for r in 0/4 3/4 3/1; do LATE=${r%/*} FSDP_TEST_HOSTS=${r#*/} FSDP_TIMEOUT=6 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 4 bash rank.sh %t/bin/fsdp-run 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/; s/rank [0-9] waited for it in .*/.../' > ${r/\//} & done; wait; cat 04 34 31
# A living rank that does not come is named: rank 0, and rank 3, by rank 0, which waits for rank 2, which waits for rank 3;
# and rank 3 of a single host.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# WAITS: for time-outs
==== rank.sh
case $LATE$OMPI_COMM_WORLD_RANK in
00 | 33) export TARDY="sleep $LATE 1 20" ;;
32) export TARDY="sleep 2 1 1" ;;
esac
exec "$1" --transport mpi -q --threads 1 p
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = adamw(lr = 0.01) }
==== out
error: rank 0 (process P) did not answer within 6 s; ...
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer
error: rank 3 (process P) did not answer within 6 s; ...
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer
error: rank 3 (process P) did not answer within 6 s; ...
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer

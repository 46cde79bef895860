# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p --mesh rep=2,dp=2
# RUN: FSDP_TEST_HOSTS=4 FSDP_TIMEOUT=12 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 4 bash rank.sh %t/bin/fsdp-run 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/; s/rank [0-2] waited for it in .*/.../'; echo ${PIPESTATUS[0]}
# Rank 3 is lost, rank 2 waits for it, and rank 0, longer than rank 2, for rank 2: whoever's time is up first, rank 3 is named.
# Rank 2 may come 13 s after rank 0, however busy the machine is, before rank 0 has to name it.
# WAITS: for the time-out of rank 0
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# TIME: 120
==== rank.sh
case $OMPI_COMM_WORLD_RANK in
2) export TARDY="sleep 2 1 1" ;;
3) export TARDY="stop 3 1 0" ;;
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
error: rank 3 (process P) did not answer within 12 s; ...
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer
4

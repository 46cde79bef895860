# RUN: mkdir %t/bin && cp %build/fsdp-run %build/transport_mpi.so %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so; seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2
# RUN: for how in "stop 1 24 0" "sleep 1 24 12"; do TARDY=$how FSDP_TEST_HOSTS=2 FSDP_TIMEOUT=8 %t/bin/fsdp-run --transport mpi -q --threads 1 p 2>&1 | sed 's/(process [0-9]* on [^)]*)/(process P)/; s/within \([0-9]\|[1-4][0-9]\) s/in time/'; echo ${PIPESTATUS[0]}; done
# A decision waits for a host at work as long as that takes, for one that shows no sign of life as long as the rest.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# TIME: 120
# WAITS: for time-outs
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
error: rank 1 (process P) did not answer in time; rank 0 waited for it in the run's end, agreement number 3 of the messages of the run among these ranks
help: check that process, its host and the network between; FSDP_TIMEOUT=SECONDS waits longer
4
0

# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2
# RUN: FSDP_TIMEOUT=3 mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 bash rank.sh %fsdp-run 2>&1 | sed 's/(process [0-9]*)/(process P)/; s/than [0-9]* s/than some s/'; echo ${PIPESTATUS[0]}
# MPI's start waits for a stopped rank without end; the rank that waits for it names it.
# NEEDS: tool:mpirun build:transport_mpi.so
# WAITS: for a time-out
==== rank.sh
[ $OMPI_COMM_WORLD_RANK = 1 ] && kill -STOP $$
exec "$1" -q --threads 1 p
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
error: rank 0: the meeting of all ranks took longer than some s: rank 1 (process P) is stopped (SIGSTOP)
help: start the run again; FSDP_TIMEOUT=SECONDS waits longer
4

# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; stop() { rm -rf ck log; %fsdp-run -q --threads 1 --checkpoint ck --log log $2 p & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; kill -$1 $p; wait $p; echo "$1 $2: $?, $(ls ck | grep -c step-) checkpoint"; }; stop USR1; stop HUP; stop TERM; stop USR1 "--transport mpi"; stop TERM "--transport mpi"
# Each of the signals that tell jobs to end leaves a checkpoint, with one process and with several.
# NEEDS: tool:mpirun build:device_cpu.so build:transport_mpi.so sanitizer:none
# TIME: 60
# WAITS: for a run that is under way
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 100000000; optimizer = adamw(lr = 0.1) }
==== out
USR1 : 130, 1 checkpoint
HUP : 130, 1 checkpoint
TERM : 130, 1 checkpoint
USR1 --transport mpi: 130, 1 checkpoint
TERM --transport mpi: 130, 1 checkpoint

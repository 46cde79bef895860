# RUN: seq 300 > t.txt; for n in 2 4; do %fsdpc compile -q toy.fsd -o $n.bin -n $n; done; for x in "1 2" "1 4" "4 4"; do set -- $x; FSDP_EMULATE_GPUS=$1 %root/tests/gpu/nccl.py %build/emulated/run/fsdp-run $2.bin $2 8 | sed 's/NCCL [0-9.]*/NCCL/'; done
# Row nccl of tests/gpu/run, on the NCCL of tests/nccl: on one GPU, and with a GPU for each rank.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1000000; optimizer = sgd(lr = 0.1) }
==== out
largest difference 0
NCCL: 3 communicators, arena offered as a symmetric window
a killed rank ends all
largest difference 0
NCCL: 3 communicators, arena offered as a symmetric window
a killed rank ends all
largest difference 0
NCCL: 3 communicators, arena offered as a symmetric window
a killed rank ends all

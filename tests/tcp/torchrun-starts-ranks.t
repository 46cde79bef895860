# RUN: %root/tests/tcp/hub %build %t; seq 3000 > t.txt; %t/fsdpc compile -q toy.fsd -o p -n 3; python3 %root/tests/tcp/ports.py bash each.sh %t/fsdp-run %python
# torchrun starts ranks that meet at a port next to that of its store; with another number of ranks all report it.
# NEEDS: build:device_cpu.so build:tests/modules/tcp_hub.so python:torch
# TIME: 120
==== toy.fsd
module Toy { emb : Embedding(128, 8); out : Linear(8, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1000000
        optimizer = adamw(lr = 0.01) }
==== each.sh
t="$2 -m torch.distributed.run --no_python --standalone --nproc_per_node"
$t 3 $1 --threads 1 --steps 5 --device cuda p --save a 2>err | grep -c "^last loss"; grep -e ^launcher -e ^device -e ^error err
$1 --threads 1 --quiet --steps 5 p --save b >/dev/null; cmp a b && echo same bits
$t 2 $1 --device cuda p 2>err; grep -e ^error -e ^help err | sort | uniq -c | sed 's/^ *//'
==== out
1
device cuda, transport nccl, 3 ranks of 1 thread
launcher torchrun: rank 0 of 3, local rank 0 of 3
same bits
2 error: p was compiled for 3 ranks, but torchrun's environment asks for 2
2 help: fsdpc compile toy.fsd -o p -n 2

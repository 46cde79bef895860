# RUN: %root/tests/tcp/hub %build %t; seq 3000 > t.txt; %t/fsdpc compile -q toy.fsd -o p -n 3
# RUN: export LC_ALL=C; r="%t/fsdp-run --threads 1 --steps 12 --device cuda"; $r -n 3 p --save a 2>err | sed 's/^tokens.*/tokens/; s/^model FLOP.*/model/'; $r --quiet --transport local p --save b; cmp a b; grep -v ^step err >&2
# With a GPU for each rank fsdp-run starts one process per rank, which print as one program and train to the bits of threads.
# NEEDS: build:device_cpu.so build:tests/modules/tcp_hub.so
==== toy.fsd
module Toy { emb : Embedding(128, 8); out : Linear(8, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1000000
        optimizer = adamw(lr = 0.01) }
==== out
steps           12
loss            #####**+=:._  _ 4.741  # 4.852
last loss       4.74118
best eval loss  -
tokens
model
arena bytes     33584896 predicted, 33584896 allocated a rank
==== err
device cuda, transport nccl, 3 ranks of 1 thread
launcher fsdp-run: rank 0 of 3, local rank 0 of 3

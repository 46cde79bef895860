# RUN: seq 2000 > t.txt; %fsdpc compile -q net.fsd -o p -n 2 && %python %root/tests/runtime/profiled.py %fsdpc %fsdp-run p --threads 1
# RUN: %fsdp-run -q --profile trace p && %fsdp-run -q --profile p p
# --profile writes a span for every instruction that does something; its table has the same sums.
# NEEDS: build:device_cpu.so
==== net.fsd
module Block {
  up   : Linear(24, 40, bias = true)
  down : Linear(40, 24)
  forward(x) = x + down(relu(up(x)))
}
module Net {
  emb : Embedding(128, 24)
  h   : Block[2]
  out : Linear(24, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; accumulate = 2; steps = 4; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
without a time: free, reshard, view
other names: []
ranks 2 streams compute, gather, reduce
rank 0 overlaps 0 negative 0
rank 1 overlaps 0 negative 0
sums that differ: []
limits that differ: [] of many
==== err
error: --profile p would overwrite the plan of this run (p)
==== exit 1

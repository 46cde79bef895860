# RUN: seq 300 > t.txt; r() { %fsdpc compile -q "$@" net.fsd -o p.bin && %fsdp-run -q --threads 1 --log log --save $w p.bin && grep -o '"loss":[^,]*,.*"grad_norm":[^,]*' log | sed 's/"tokens.*"grad/"grad/' > $w.log; }; w=a r --mesh rep=4,dp=1; w=b r -n 4 -s shard.strategy=none; w=c r --mesh rep=1,dp=4; cmp a b && cmp a c && cmp a.log b.log && cmp a.log c.log && echo the same bits
# HYBRID_SHARD with one shard a replica does not synchronise in PyTorch; rep = R, dp = 1 is DDP over the replicas.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { e : Embedding(128, 4); o : Linear(4, 128); forward(x) = o(e(x)) }
model = Net
data  { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 3; optimizer = adamw(lr = 0.1); clip = 1.0 }
==== out
the same bits

# RUN: head -c 4000 /dev/zero > t.txt; k=$(awk '/^(MemAvailable|SwapFree)/ {s += $2} END {print int(s / 1024)}' /proc/meminfo); %fsdpc compile -q -n 8 -s rows=$((k * 80)) -s checkpoint.snapshot=copy -o p.bin m.fsd && ! %fsdp-run --checkpoint ck --keep 1 p.bin 2> e && sed 's/[0-9.]* [MGT]iB/N GiB/g; s/[0-9]\{6,\}/N/g' e
# If checkpoints are written from a copy of the state, the copy counts in addition to the arena, before anything runs.
==== m.fsd
config { rows = 100 }
module M {
  e    : Embedding(256, 4)
  big  : Linear(4, rows)
  back : Linear(rows, 256)
  forward(x) = back(big(e(x)))
}
model = M
data  { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { strategy = none }
==== out
error: each rank needs an arena of N GiB (N bytes), a copy of N GiB (N bytes) for checkpoints, N GiB (N bytes) of buffers for checkpoints: N GiB (N bytes) for the 8 ranks on this machine; N GiB (N bytes) are available
help: gradients are 50 % of the peak: shard.strategy = grads or full splits them, smaller units (shard.unit) reduce them in smaller parts; parameters are 50 % of the peak: shard.strategy = full and more ranks split them, shard.offload = (params = cpu) keeps them in host memory

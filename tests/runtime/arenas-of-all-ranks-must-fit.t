# RUN: head -c 4000 /dev/zero > t.txt; k=$(awk '/^(MemAvailable|SwapFree)/ {s += $2} END {print int(s / 1024)}' /proc/meminfo); %fsdpc compile -q -n 8 -s rows=$((k * 120)) -o p.bin m.fsd && ! %fsdp-run p.bin 2> e && sed 's/[0-9.]* [MGT]iB/N GiB/g; s/[0-9]\{6,\}/N/g' e
# Ranks whose arenas would fit one by one but not together end in a message before the first step.
# (A rank takes about a quarter of the machine, and there are eight.)
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
error: each rank needs an arena of N GiB (N bytes): N GiB (N bytes) for the 8 ranks on this machine; N GiB (N bytes) are available
help: gradients are 50 % of the peak: shard.strategy = grads or full splits them, smaller units (shard.unit) reduce them in smaller parts; parameters are 50 % of the peak: shard.strategy = full and more ranks split them, shard.offload = (params = cpu) keeps them in host memory

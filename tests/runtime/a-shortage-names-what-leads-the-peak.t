# RUN: head -c 4000 /dev/zero > t.txt; k=$(awk '/^(MemAvailable|SwapFree)/ {s += $2} END {print int(s / 50)}' /proc/meminfo); %fsdpc compile -q -s train.batch=$k -o p.bin m.fsd && ! %fsdp-run p.bin 2> e && sed 's/[0-9.]* [MGT]iB/N GiB/g; s/[0-9]\{3,\}/N/g; s/[0-9]* %/N %/' e
# Where activations lead the peak the advice is shard.recompute first.
==== m.fsd
module M {
  e    : Embedding(256, 4)
  wide : Linear(4, 4096)
  back : Linear(4096, 256)
  forward(x) = back(gelu(wide(e(x))))
}
model = M
data  { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
note: data.train (t.txt) has N samples, fewer than the batch of N: each step repeats some
error: the plan needs an arena of N GiB (N bytes); N GiB (N bytes) are available
help: activations are NN % of the peak: shard.recompute computes them again in backward, more train.accumulate or a smaller train.batch keeps fewer

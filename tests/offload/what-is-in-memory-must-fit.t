# RUN: k=$(awk '/^(MemAvailable|SwapFree)/ {s += $2} END {print int(s / 1024)}' /proc/meminfo); %fsdpc compile -q -s rows=$((k * 50)) -o p.bin m.fsd && (ulimit -v 8000000; ! %fsdp-run p.bin 2> e) && sed 's/[0-9.]* [MGT]iB/N GiB/g; s/[0-9]\{6,\}/N/g' e
# What the host keeps in memory counts among what must fit: said before a page is taken. (Weights and moments are larger than the machine; the limit stops a run that goes on.)
# NEEDS: build:device_cpu.so sanitizer:none
==== m.fsd
config { rows = 100 }
module Block { up : Linear(64, rows); down : Linear(rows, 64); forward(x) = x + down(up(x)) }
module M {
  e      : Embedding(256, 64)
  blocks : Block[16]
  head   : Linear(64, 256)
  forward(ids) {
    x = e(ids)
    for block in blocks { x = block(x) }
    return head(x)
  }
}
model = M
data  { train = synthetic_tokens(vocab = 256); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 1; steps = 1 }
shard { unit = [Block, Linear]; offload = (states = cpu, params = cpu, grads = cpu) }
==== out
error: the plan needs an arena of N GiB (N bytes), N GiB (N bytes) of offloaded state: N GiB (N bytes) together; N GiB (N bytes) are available
help: set path = "folder" in shard.offload to keep offloaded state in a file there

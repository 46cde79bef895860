# RUN: seq 2000 > t.txt; %fsdpc compile -q net.fsd -o p -n 2 && %fsdp-run --quiet --threads 2 --save w p
# RUN: for m in default plain; do [ $m = plain ] && export FSDP_CPU_MATMUL=plain; %fsdp-run --quiet --threads 2 --save $m p; for v in OMP_THREAD_LIMIT=1 OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=0 OMP_STACKSIZE=64k; do env $v %fsdp-run --quiet --threads 2 --save v p && cmp $m v && echo $v $m; done; done; cmp w default
# Where OpenMP grants fewer threads than asked for, or small stacks, the bits stay the same.
# NEEDS: build:device_cpu.so
==== net.fsd
module Block {
  mix : Linear(64, 192)
  out : Linear(64, 64, bias = true)
  forward(x: [B, S, 64]) {
    q, k, v = split(mix(x) as [B, S, 3, 4, 16], 2)
    return x + out(attention(q, k, v, causal = true) as [B, S, 64])
  }
}
module Net {
  emb : Embedding(128, 64)
  h : Block[2]
  head : Linear(64, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return head(y)
  }
}
model = Net
data { train = text("t.txt"); length = 64 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2; optimizer = adamw(lr = 0.01) }
shard { unit = Block }
==== out
OMP_THREAD_LIMIT=1 default
OMP_DYNAMIC=true default
OMP_MAX_ACTIVE_LEVELS=0 default
OMP_STACKSIZE=64k default
OMP_THREAD_LIMIT=1 plain
OMP_DYNAMIC=true plain
OMP_MAX_ACTIVE_LEVELS=0 plain
OMP_STACKSIZE=64k plain

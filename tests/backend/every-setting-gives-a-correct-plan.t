# RUN: for n in 1 2 3; do for m in 1 2 4; do for s in full grads none; do for l in local sharded; do %fsdpc compile groups.fsd -n $n -q -o g.bin -s train.accumulate=$m -s shard.strategy=$s -s shard.accumulate=$l 2>/dev/null && %fsdpc check g.bin || exit 1; done; done; done; done; echo 54 plans
# Units of several groups, frozen and f32 ones: plans for all ranks, micro-batches and strategies pass the ten proofs.
# TIME: 120
==== groups.fsd
module B {
  ln : LayerNorm(6) @f32
  fc : Linear(6, 6, bias = true)
  out : Linear(6, 6) @frozen
  forward(x) = x + out(gelu(fc(ln(x))))
}
module M {
  e : Embedding(256, 6)
  h : B[2]
  out : Linear(6, 256)
  forward(ids) {
    x = e(ids)
    for b in h { x = b(x) }
    return out(x)
  }
}
model = M
data { train = text("a.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); precision = bf16(master = f32) }
shard { unit = B }
==== out
54 plans

# RUN: %fsdpc dump --format=json groups.fsd -n 2 | %python -c 'import json, sys; d = json.load(sys.stdin); [print(g["offsets"], g["padded"], g["master"], g["compute"], g["reduce"], g["trainable"]) for g in d["layout"]["h.0"]["groups"]]; print(d["collectives"][1])'
# A unit of several dtypes or with frozen parameters has a list of groups; its gather is one.
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
[0, 8] 14 f32 f32 f32 True
[0, 40] 46 f32 bf16 f32 True
[0] 36 f32 bf16 f32 False
['forward 0', 'all_gather', 'h.0', 96, 'f32+bf16', [0, 1]]

# RUN: %fsdpc dump --stage=model m.fsd > /dev/null
# `a + b as [..]` gives only b that shape. Where a has another shape, of as many elements, a warning says so; else not.
==== m.fsd
config { D = 4 }
module Net {
  emb : Embedding(70, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    y = x + x as [B, T, D]
    z = x[:, :, :1] * x[:, :, 1:2] as [B, 1, T]
    return linear(y + z[:, :, :D], emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
warning[W0312]: `as` applies to `x[:, :, 1:2]` only
 --> m.fsd:7:9
  |
7 |     z = x[:, :, :1] * x[:, :, 1:2] as [B, 1, T]
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: for both, write (x[:, :, :1] * x[:, :, 1:2]) as [B, 1, T]


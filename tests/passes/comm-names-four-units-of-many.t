# RUN: %fsdpc dump --stage=comm -n 2 %s 2>&1 | grep ^note
# A note about many units names the first four and says once that there are more.
==== net.fsd
module Block {
  w : param[4, 4] = normal(0.02)
  forward(x: [B, S, 4]) = linear(x, w)
}
module Net {
  e : param[8, 4] = normal(0.02)
  h : Block[7]
  forward(ids: [B, S]) {
    y = gather(e, ids)
    for block in h { y = block(y) }
    for block in h { y = block(y) }
    return linear(y, e)
  }
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = Block }
==== out
note[W0405]: used several times, gathered each time: h.0, h.1, h.2, h.3, ..

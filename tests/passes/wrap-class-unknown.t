# RUN: %fsdpc dump --stage=shard -s shard.unit=Blok %s; %fsdpc dump --stage=shard -s shard.unit=Nett %s
# A class that no module has is an error, with the nearest name, which may be that of the whole model.
==== net.fsd
module Inner { p : P(7) }
module Block { i : Inner; p : P(5) }
module P(n) { w : param[n] = zeros @frozen }
module Net {
  h : Block[2]
  e : param[3, 2] = zeros
  forward(ids: [B, S]) = gather(e, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0401]: unit = Blok: no module of that class; did you mean Block?
 --> -s:1:12
  |
1 | shard.unit=Blok
  |            ^^^^

error[E0401]: unit = Nett: no module of that class; did you mean Net?
 --> -s:1:12
  |
1 | shard.unit=Nett
  |            ^^^^

==== exit 1

# RUN: %fsdpc compile -o p.bin -s train.batch=4 -s train.steps=99999999999999999999 m.fsd
# A number of steps that is in error is not missing too.
==== m.fsd
module Net {
  wte : Embedding(11, 6)
  head : Linear(6, 11)
  forward(ids: [B, T]) = head(wte(ids))
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0201]: the result of `99999999999999999999` does not fit into 64 bits
 --> -s:1:13
  |
1 | train.steps=99999999999999999999
  |             ^^^^^^^^^^^^^^^^^^^^

==== exit 1

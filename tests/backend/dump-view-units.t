# RUN: for s in full grads none; do echo $s; %fsdpc dump -s shard.strategy=$s m.fsd 2>/dev/null | awk '/^units/ { n++ } /^$/ { n += n == 1 } n == 1'; done
# A unit is a line: gathered from where to where, what for and why; units alike share one.
==== m.fsd
module Block { a : Linear(8, 16); b : Linear(16, 8); forward(x) = x + b(relu(a(x))) }
module M {
  e    : Embedding(32, 8)
  h    : Block[6]
  out  : Linear(8, 32)
  forward(x) {
    y = e(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = M
data  { train = text("a.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = adamw(lr = 0.1) }
shard { unit = Block; mesh = (dp = 2) }
==== out
full
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  gathered #8..#21 for forward; again #120..#140 for backward (reshard = true); reduced #144
  (root)  M            512  gathered #7..#68 for forward and backward (its backward follows at once); reduced #148
grads
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  gathered #8..#116 for forward and backward (kept: reshard = false, or strategy = grads);
                            reduced #120
  (root)  M            512  gathered #7..#61 for forward and backward (its backward follows at once); reduced #124
none
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  whole on every rank (strategy = none); reduced #101
  (root)  M            512  whole on every rank (strategy = none); reduced #104

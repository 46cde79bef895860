# RUN: %fsdpc dump -n 2 m.fsd 2>/dev/null | awk '/^units/ { n++ } /^$/ { n += n == 1 } n == 1'
# Where a layer has several units, a layer that does what the first one does is folded into it.
==== m.fsd
module Pair { a : Linear(8, 24); b : Linear(24, 8); forward(x) = x + b(relu(a(x))) }
module M {
  e    : Embedding(32, 8)
  h    : Pair[5]
  out  : Linear(8, 32)
  forward(t) {
    y = e(t)
    for p in h { y = p(y) }
    return out(y)
  }
}
model = M
data  { train = text("a.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== out
units           params  (numbers are those of the first unit of a line)
  h.0.a  Linear    192  gathered #13..#24 for forward; again #155..#167 for backward (reshard = true); reduced #171
  h.0.b  Linear    192  gathered #21..#29 for forward; again #146..#159 for backward (reshard = true); reduced #162
  h.1 .. h.4 as h.0: 4 x 2 units
  out  Linear      256  gathered #66..#73 for forward; again #75..#80 for backward (reshard = true); reduced #82
  (root)  M        256  gathered #12..#20 for forward; reduced #175

# RUN: for s in '-s shard.reshard=false' '-s shard.reshard_root=true' '-n 1 -s train.precision=bf16'; do echo "$s"; %fsdpc dump $s m.fsd 2>/dev/null | awk '/^units/ { n++ } /^$/ { n += n == 1 } n == 1'; done
# What is kept, what is gathered again and what one rank casts reads differently.
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
-s shard.reshard=false
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  gathered #8..#116 for forward and backward (kept: reshard = false, or strategy = grads);
                            reduced #120
  (root)  M            512  gathered #7..#61 for forward and backward (its backward follows at once); reduced #124
-s shard.reshard_root=true
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  gathered #8..#21 for forward; again #123..#143 for backward (reshard = true); reduced #147
  (root)  M            512  gathered #7..#64 for forward; again #66..#71 for backward (reshard = true); reduced #151
-n 1 -s train.precision=bf16
units               params  (numbers are those of the first unit of a line)
  h.0 .. h.5  Block    256  cast #14..#19 for forward; again cast #112..#119 for backward
  (root)  M            512  cast #7..#61 for forward and backward (its backward follows at once)

# RUN: %fsdpc dump -s train.accumulate=3 -s train.batch=12 m.fsd | grep -a '^program'
# Each program says how often it runs in a step.
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
program first: once a step; 158 instructions, peak 28.2 KiB
program micro: once a step; 174 instructions, peak 28.5 KiB
program last: once a step; 232 instructions, peak 28.5 KiB
program eval: once for each batch of an evaluation; 68 instructions, peak 22.5 KiB

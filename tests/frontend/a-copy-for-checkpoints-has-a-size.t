# RUN: ! %fsdpc dump -s checkpoint.snapshot=0B %s
# RUN: %fsdpc dump -s checkpoint.snapshot=128 %s
# The copy through which checkpoints leave is given in bytes, at least one.
==== net.fsd
module Net {
  emb : Embedding(256, 256)
  forward(x) = emb(x)
}
model = Net
data { train = text("t.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
==== err
error[E0318]: snapshot must be 1B to 1125899906842624B
 --> -s:1:21
  |
1 | checkpoint.snapshot=0B
  |                     ^^

error[E0310]: checkpoint.snapshot must be a name or bytes, not an integer
 --> -s:1:21
  |
1 | checkpoint.snapshot=128
  |                     ^^^

==== exit 1

# RUN: %fsdpc compile %s -o p.bin -q
# More than 2^50 bytes a rank cannot be planned, which is the user's mistake.
==== m.fsd
config { D = 1G }
module Net {
  emb : Embedding(11, 4)
  a : Linear(4, D)
  b : Linear(D, 4)
  forward(ids: [B, T]) {
    x = emb(ids)
    return b(gelu(a(x)) * gelu(a(x)))
  }
}
model = Net
data { train = text("t.txt"); length = 32768 }
train { loss = cross_entropy(model(inputs), targets); batch = 3; steps = 1 }
==== err
error[E0408]: a rank would need 1966208038668288 bytes of memory; a plan can hold 1125899906842624
  = help: a smaller batch, more ranks or smaller units need less

==== exit 1

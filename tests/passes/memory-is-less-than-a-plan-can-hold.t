# RUN: %fsdpc compile %s -o p.bin -q
# More than 2^50 bytes per rank cannot be planned, which is the user's mistake.
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
error[E0408]: a rank would need 1789 TiB of memory; a plan can hold at most 1024 TiB
  = help: use a smaller batch, more ranks or smaller units

==== exit 1

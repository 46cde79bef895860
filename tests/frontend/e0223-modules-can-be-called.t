# RUN: %fsdpc dump --stage=model %s
# Other values cannot be called.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = D(3)
    y = ids(3)
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0207]: there is no function or module `D` here
 --> m.fsd:6:9
  |
6 |     x = D(3)
  |         ^
  |
  = help: `fsdpc help functions` lists the functions

error[E0223]: a tensor cannot be called
 --> m.fsd:7:9
  |
7 |     y = ids(3)
  |         ^^^^^^
  |
  = help: multiply tensors with `*` or matmul(a, b), and index them as in x[:, 1:]

==== exit 1

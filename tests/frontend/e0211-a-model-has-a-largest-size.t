# RUN: %fsdpc dump --stage=model %s
# Parameters hold at most 2^45 elements together.
==== m.fsd
module Net {
  a : Linear(4, 8T)
  b : Linear(8T, 3)
  c : Embedding(11, 4)
  forward(x) = b(a(c(x)))
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0211]: with this parameter the model has more than 35184372088832 elements
 --> m.fsd:3:3
  |
3 |   b : Linear(8T, 3)
  |   ^

==== exit 1

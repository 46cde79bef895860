# RUN: %fsdpc dump --stage=model %s
# A row has enough numbers to choose from.
==== m.fsd
config { D = 6; V = 11; E = 3 }
module Expert {
  up, down : Linear(D, D)
  forward(x) = down(silu(up(x)))
}
module Net {
  wte, head : Embedding(V, D)
  gate : Linear(D, E)
  experts : Expert[E]
  forward(ids: [B, T]) {
    x = wte(ids)
    p, idx = topk(softmax(gate(x)), 2)
    a = topk(x, 7)
    return linear(x, head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0204]: `topk` cannot take [B, T, D]
  --> m.fsd:13:9
   |
13 |     a = topk(x, 7)
   |         ^^^^^^^^^^
   |
   = help: cannot choose 7 of the 6 numbers in a row of f32[4, 8, 6]

==== exit 1

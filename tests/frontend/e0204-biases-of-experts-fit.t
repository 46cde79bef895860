# RUN: %fsdpc dump --stage=model %s
# The bias of an expert has as many numbers as its weight has rows; no other is repeated.
==== m.fsd
config { D = 6; F = 4; V = 11; E = 2 }
module Expert {
  w : param[F, D] = normal(0.02)
  b : param[1] = zeros
  down : Linear(F, D)
  forward(x) = down(linear(x, w, b))
}
module Net {
  wte, head : Embedding(V, D)
  gate : Linear(D, E)
  experts : Expert[E]
  forward(ids: [B, T]) {
    x = wte(ids)
    p, idx = topk(softmax(gate(x)), 2)
    return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0204]: `linear` cannot take a bias [1] with weights [F, D]
  --> m.fsd:6:21
   |
 6 |   forward(x) = down(linear(x, w, b))
   |                     ^^^^^^^^^^^^^^^
note: in Expert.forward, called here
  --> m.fsd:15:27
   |
15 |     return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
   |                           ^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1

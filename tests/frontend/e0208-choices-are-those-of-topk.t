# RUN: %fsdpc dump --stage=model %s
# Choices come from topk, rows keep theirs, and aux takes one number.
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
    b = dispatch(x, ids)
    q, few = topk(x, 2)
    u = combine(dispatch(x, few), idx, p)
    aux(p, weight = 1)
    return linear(x, head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0208]: `choices` must be the indices that `topk` returns
  --> m.fsd:13:21
   |
13 |     b = dispatch(x, ids)
   |                     ^^^
   |
   = help: for example p, choices = topk(softmax(scores), 2)

error[E0208]: these rows were dispatched by other choices
  --> m.fsd:15:17
   |
15 |     u = combine(dispatch(x, few), idx, p)
   |                 ^^^^^^^^^^^^^^^^
   |
   = help: pass `combine` the choices that `dispatch` got

error[E0208]: `aux` takes one number for the whole batch, not [B, T, 2]
  --> m.fsd:16:9
   |
16 |     aux(p, weight = 1)
   |         ^
   |
   = help: take its mean over all axes: aux(mean(x), weight = 0.01)

==== exit 1

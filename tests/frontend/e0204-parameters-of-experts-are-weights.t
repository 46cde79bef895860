# RUN: %fsdpc dump --stage=model %s
# Inside of experts a parameter is the weight of a product, and nothing depends on the order of rows.
==== m.fsd
config { D = 6; V = 11; E = 3 }
module Expert {
  up, down : Linear(D, D)
  scale : param[D] = ones
  forward(x) = down(dropout(up(x) * scale, 0.1))
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
error[E0208]: `dropout` inside experts would depend on the order of their rows
  --> m.fsd:5:21
   |
 5 |   forward(x) = down(dropout(up(x) * scale, 0.1))
   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: apply it before `dispatch` or after `combine`
note: in Expert.forward, called here
  --> m.fsd:14:27
   |
14 |     return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
   |                           ^^^^^^^^^^^^^^^^^^^^^^^^^

error[E0204]: a parameter of an expert can only be the weight or bias of `linear`
  --> m.fsd:5:29
   |
 5 |   forward(x) = down(dropout(up(x) * scale, 0.1))
   |                             ^^^^^^^^^^^^^
note: in Expert.forward, called here
  --> m.fsd:14:27
   |
14 |     return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
   |                           ^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1

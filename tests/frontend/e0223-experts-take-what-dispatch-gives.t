# RUN: %fsdpc dump --stage=model %s
# An array of modules takes rows of as many experts as it has.
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
    y = experts(x)
    q, few = topk(x, 2)
    z = experts(dispatch(x, few))
    return linear(x, head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0223]: `experts` is an array of modules, not one module
  --> m.fsd:13:9
   |
13 |     y = experts(x)
   |         ^^^^^^^^^^
   |
   = help: for layer in experts { x = layer(x) } calls them one after the other, experts[0](x) calls one; all at once they take the rows that `dispatch` returns

error[E0223]: the choices are among 6 experts, but the array has 3
  --> m.fsd:15:9
   |
15 |     z = experts(dispatch(x, few))
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: the router must return one score for each module

==== exit 1

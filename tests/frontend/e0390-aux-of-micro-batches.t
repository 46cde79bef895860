# RUN: %fsdpc dump --stage=model -s train.accumulate=2 %s
# A term over the whole batch needs all micro-batches at once.
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
    aux(load_balance(gate(x), idx), weight = 0.5)
    return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0390]: `aux` with accumulate > 1, where no micro-batch knows the others, is known but not in this version
  --> m.fsd:13:5
   |
13 |     aux(load_balance(gate(x), idx), weight = 0.5)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 2

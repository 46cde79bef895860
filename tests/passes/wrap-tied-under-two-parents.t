# RUN: %fsdpc dump --stage=shard -s 'shard.unit=[Half, Both]' %s | sed -n 's/^unit //p'
# Two parents, one around both: the parameter goes there, not to the root.
==== net.fsd
module Half { l : Linear(2, 2); p : Linear(2, 2); forward(x) = l(p(x)) }
module Both {
  a, b : Half
  tie b.l.weight = a.l.weight
  forward(x) = b(a(x))
}
module Net { both : Both; e : Embedding(4, 2); forward(ids: [B, S]) = both(e(ids)) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
0 "both.a" Half modules 2 groups 0 below 8 owned 4
1 "both.b" Half modules 5 groups 1 below 8 owned 4
2 "both" Both modules 1 groups 2 below 12 owned 4
3 "" Net modules 0 groups 3 below 20 owned 8 root
==== err
note[W0402]: both.a.l.weight is tied to both.b.l.weight: both live in unit both
 --> net.fsd:1:15
  |
1 | module Half { l : Linear(2, 2); p : Linear(2, 2); forward(x) = l(p(x)) }
  |               ^
note: both.b.l.weight is the same parameter
 --> net.fsd:1:15
  |
1 | module Half { l : Linear(2, 2); p : Linear(2, 2); forward(x) = l(p(x)) }
  |               ^


# RUN: %fsdpc dump --only=h.99 m.fsd
# A path that nothing has is a mistake.
==== m.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== err
error[E0503]: nothing in the plan has the path `h.99`
  = help: a path is like h.3.attn; * stands for anything: h.*.attn

==== exit 1

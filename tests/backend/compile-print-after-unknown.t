# RUN: %fsdpc compile tiny.fsd -o x.bin --print-after=warp
# A misspelt pass names its neighbour.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== err
error[E0505]: there is no pass `warp`
  = help: did you mean `wrap`?

==== exit 1

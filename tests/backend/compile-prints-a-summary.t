# RUN: %fsdpc compile tiny.fsd -n 2 -o %t/plan.bin
# One short summary on standard error.
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
tiny.fsd: 2,048 parameters, 2 ranks, 1 unit
per rank: peak 20.1 KiB on cpu (256 B workspace), 32.0 MiB on cuda (32.0 MiB workspace); sends 8.4 KiB per step
at the peak: gathered parameters 8.0 KiB, activations 6.1 KiB, parameters 4.0 KiB, unused 912 B, loss and step 576 B, batch 304 B

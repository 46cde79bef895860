# RUN: %fsdpc compile -q -W error -W no-used-again m.fsd -n 2 -o p.bin; echo $?; test ! -e p.bin
# A warning that a pass gives ends the compilation with -W error, and no plan is written.
==== m.fsd
module Net {
  h : Linear(4, 4)[2]
  w : Embedding(256, 4)
  forward(ids) {
    x = w(ids)
    for f in h { x = f(x) }
    return linear(x, w.weight)
  }
}
model = Net
data { train = text("t.txt"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1 }
==== out
1
==== err
error[W0401]: one unit of 1.1k parameters is gathered at once; write unit = Linear
  = help: that is 4.1 KiB on every rank, as much as without sharding


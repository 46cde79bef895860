# RUN: for v in 'muon(lr = 1e-30, adamw_lr = 8)' 'adamw(lr = 1e-30)'; do %fsdpc compile -q -o p.bin -s "train.optimizer=$v" m.fsd 2>&1 | grep -E '^error|^internal|m.fsd:'; done; true
# A factor of the learning rate that no plan may hold is a mistake, in a group and of Muon's AdamW.
==== m.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train {
  loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5
  "out.*" = group(lr = 2)
}
==== out
error[E0318]: a learning rate can be at most 1e+30 times the optimizer's, 1e-30
  --> m.fsd:10:24
error[E0318]: a learning rate can be at most 1e+30 times the optimizer's, 1e-30
error[E0318]: a learning rate can be at most 1e+30 times the optimizer's, 1e-30
  --> m.fsd:10:24

# RUN: %fsdpc dump --stage=model %s 2>&1 | grep '^error'; sed -i 's/B = 2/C = 2/' m.fsd; %fsdpc dump --stage=model m.fsd 2>&1 | grep '^error'
# Where the shape that is wanted and the shape that is given have the same names, the message has the sizes.
==== m.fsd
config { B = 2 }
module Scale(d) { forward(x: [B, d]) = x * 2.0 }
module Net(d) {
  w : param[d] = ones
  scale : Scale(4)
  forward(x: [B, d]) = scale(x * w)
}
module Root { net : Net(8); forward(x) = net(x) }
model = Root
data  { train = synthetic(x = [8], y = [8]) }
train { loss = mse(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 1e-3) }
==== out
error[E0204]: `x` must be [B, d], but it is [4, 8]: B = 2 (line 1), d = 8
error[E0204]: `x` must be [B, d], but it is [B, 8]: d = 4
==== exit 1

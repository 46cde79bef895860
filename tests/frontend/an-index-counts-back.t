# RUN: %fsdpc dump --stage=model %s | sed -n '/^program eval/,$d; s/.* = linear.*\("[^"]*"\).*/\1/p'
# A negative index of an array of modules, or of a list, counts back from its end.
==== net.fsd
module Net {
  h : Linear(4, 4)[3]
  head : Linear(4, 2)
  forward(x: [B, D]) {
    y = h[-1](h[-3](x))
    for l in [h, [head]][-1] { y = l(h[1](y)) }
    return y
  }
}
model = Net
data  { train = synthetic(x = [4], y = 2) }
train { loss = cross_entropy(model(x), y); batch = 2 }
==== out
"h.0"
"h.2"
"h.1"
"head"

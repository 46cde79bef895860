# RUN: for mesh in cp=2 zigzag=2; do %fsdpc compile -q --mesh dp=1,$mesh net.fsd -o p && %fsdpc check p; done
# Along cp and zigzag the terms of the gradient of a value made from parameters, here of five rows, are summed whole without a warning: its rows are not those of a sample.
==== net.fsd
module Net {
  e : Embedding(7, 4)
  a : param[5, 4] = normal(0.5)
  b : param[5, 1] = ones
  h : Linear(5, 7)
  forward(ids: [B, T]) = h(linear(silu(e(ids)), tanh(a * b)))
}
model = Net
data { train = synthetic_tokens(vocab = 7); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 3; optimizer = sgd(lr = 0.1) }

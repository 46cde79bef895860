# RUN: %fsdpc dump --stage=model %s | grep -E 'scale|reshape'
# A default of a method may name the parameters before it.
==== m.fsd
module Net {
  w : Embedding(4, 6)
  half(x, k, twice = 2 * k, both = twice + k) = x * both
  forward(ids) = linear(half(w(ids), 4), w.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
  #6 %6: f32[1, 8, 6] = scale(%5) {alpha = 12} !forward - 1:3:49-3:57
  #16 %16: f32[1, 8, 6] = scale(%15) {alpha = 12} !forward - 1:3:49-3:57

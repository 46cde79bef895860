# RUN: %fsdpc dump --stage=model %s | sed -n '/^program train/,/^end/p' | grep -E 'relu|scale|add'
# A module's own methods, methods of fields, keyword arguments and defaults all become ops in place.
==== m.fsd
module Part {
  forward(x) = x
  twice(x, by = 2, plus = none) {
    if plus == none { return x * by }
    return x * by + plus
  }
}
module Net {
  e : Embedding(4, 4)
  p : Part
  act(x: [B, T, 4]) = relu(x)
  forward(ids) {
    x = act(p(e(ids)))
    x += p.twice(x)
    return p.twice(plus = x, x = x, by = 3)
  }
}
model = Net
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
  #6 %6: f32[1, 2, 4] = relu(%5) !forward - 1:11:23-11:30
  #7 %7: f32[1, 2, 4] = scale(%6) {alpha = 2} !forward "p" 1:4:30-4:36
  #8 %8: f32[1, 2, 4] = add(%6, %7) !forward - 1:14:5-14:20
  #9 %9: f32[1, 2, 4] = scale(%8) {alpha = 3} !forward "p" 1:5:12-5:18
  #10 %10: f32[1, 2, 4] = add(%9, %8) !forward "p" 1:5:12-5:25

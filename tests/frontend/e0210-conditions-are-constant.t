# RUN: %fsdpc dump --stage=model %s
# A condition on a tensor or a number is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    if x > 0 { return x }
    if D { return x }
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0210]: a condition must be true or false, not a tensor
 --> m.fsd:7:8
  |
7 |     if x > 0 { return x }
  |        ^^^^^
  |
  = help: conditions are decided when the model is compiled; multiply comparisons of tensors, as in (x > 0) * (x < 1), and choose elements with where(..)

error[E0210]: a condition must be true or false, not an integer
 --> m.fsd:8:8
  |
8 |     if D { return x }
  |        ^
  |
  = help: set `D` to true or false

==== exit 1

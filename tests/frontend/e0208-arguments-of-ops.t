# RUN: %fsdpc dump --stage=model %s
# An op says what it needs and what it does not take.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = gelu(wte(ids), aprox = tanh)
    y = linear(x)
    z = relu(3)
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0208]: `gelu` has no argument `aprox`
 --> m.fsd:6:24
  |
6 |     x = gelu(wte(ids), aprox = tanh)
  |                        ^^^^^^^^^^^^
  |
  = help: did you mean `approx`?
          gelu(x: tensor, approx: erf | tanh = erf)

error[E0310]: `x` of `relu` must be a tensor, not an integer
 --> m.fsd:8:14
  |
8 |     z = relu(3)
  |              ^

==== exit 1

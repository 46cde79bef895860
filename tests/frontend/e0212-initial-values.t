# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Every parameter has one of the initial values.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : param[2]
  b : param[2] = 3
  c : param[2] = normal(-1)
  d : Linear(D, D) = zeros
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0212]: parameter `a` has no initial value
 --> m.fsd:5:3
  = help: write = zeros, = ones or = normal(0.02) after its shape
error[E0212]: an integer cannot be the initial value of a parameter
 --> m.fsd:6:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0311]: `std` of `normal` must be at least 0, not -1
 --> m.fsd:7:25
error[E0212]: only a parameter has an initial value
 --> m.fsd:8:22
==== exit 1

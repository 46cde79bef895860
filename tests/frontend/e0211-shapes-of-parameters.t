# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A parameter has positive integer axes, up to six.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : param[0] = zeros
  b : param[D / 4] = zeros
  c : param = zeros
  d : param[1, 1, 1, 1, 1, 1, 1] = zeros
  e : param[1G, 1G] = zeros
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0211]: the size of a parameter's axis must be a positive integer, not 0
 --> m.fsd:5:13
error[E0211]: the size of a parameter's axis must be a positive integer, not 1.5
 --> m.fsd:6:13
error[E0211]: a parameter needs its shape in brackets
 --> m.fsd:7:7
  = help: for example param[4, 8] = zeros
error[E0211]: a parameter must have 1 to 6 axes, not 7
 --> m.fsd:8:12
error[E0211]: this parameter is too large
 --> m.fsd:9:12
==== exit 1

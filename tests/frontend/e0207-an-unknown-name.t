# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Unknown names and functions suggest the nearest.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(idz)
    y = reluu(x)
    return hed(y)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0207]: there is no name `idz` here
 --> m.fsd:6:13
  = help: did you mean `ids`?
error[E0207]: there is no function or module `reluu` here
 --> m.fsd:7:9
  = help: did you mean `relu`?
error[E0207]: there is no function or module `hed` here
 --> m.fsd:8:12
  = help: did you mean `head`?
==== exit 1

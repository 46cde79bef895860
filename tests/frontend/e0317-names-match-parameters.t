# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A pattern without a parameter, a vector transposed, and two parameters of one name are errors.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  n : LayerNorm(D)
  forward(ids: [B, T]) {
    return head(n(wte(ids)))
  }
}
model = Net
names hf { "wte.wieght" = "a"; "n.*" = "n.*^T"; "head.*" = "x"; "wte.*" = "x" }
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0317]: `wte.weight` and `head.weight` have the same checkpoint name x
  --> m.fsd:11:1
error[E0317]: "wte.wieght" matches no parameter
  --> m.fsd:11:12
   = help: did you mean `wte.weight`?
error[E0317]: `n.weight` is stored transposed (^T), but has 1 axis
  --> m.fsd:11:32
error[E0317]: `n.bias` is stored transposed (^T), but has 1 axis
  --> m.fsd:11:32
==== exit 1

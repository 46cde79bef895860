# RUN: %fsdpc dump --stage=model %s
# `as` says which names do not fit and what they are.
==== m.fsd
config { D = 6; V = 11; H = 4; hd = 2 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids) as [B, T, H, hd] as [B, T, D])
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0204]: `as` cannot make [B, T, H, hd] from [B, T, D]: H = 4 (line 1), hd = 2 (line 1), D = 6 (line 1)
 --> m.fsd:6:17
  |
6 |     return head(wte(ids) as [B, T, H, hd] as [B, T, D])
  |                 ^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: [B, T, H, hd] has 64 elements, [B, T, D] has 48

==== exit 1

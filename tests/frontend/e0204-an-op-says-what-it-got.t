# RUN: %fsdpc dump --stage=model %s
# An op in the prelude is reported at the place of the user, with a note.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids) as [B, T, 3, 2])
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0204]: `linear` cannot take [B, T, 3, 2] and [V, D]: V = 11 (line 1), D = 6 (line 1)
 --> m.fsd:6:12
  |
6 |     return head(wte(ids) as [B, T, 3, 2])
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: w f32[11, 6] has D = 6, x f32[1, 8, 3, 2] has D = 2
note: in Linear.forward
 --> std.fsd:5:16
  |
5 |   forward(x) = linear(x, weight, bias)
  |                ^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1

# RUN: %fsdpc dump --stage=model %s
# A field that a module does not have suggests the nearest.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  h : Linear(D, D)[2]
  forward(ids: [B, T]) {
    x = head.wieght
    y = D.x
    z = h[2]
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0209]: module Linear has no field `wieght`
 --> m.fsd:7:14
  |
7 |     x = head.wieght
  |              ^^^^^^
  |
  = help: did you mean `weight`?

error[E0209]: an integer has no field `x`
 --> m.fsd:8:9
  |
8 |     y = D.x
  |         ^^^

error[E0209]: `h` has elements 0 to 1, not 2
 --> m.fsd:9:11
  |
9 |     z = h[2]
  |           ^

==== exit 1

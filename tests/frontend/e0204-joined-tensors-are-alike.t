# RUN: %fsdpc dump --stage=model %s
# What concat and stack join is alike, and its axes exist.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = concat(x, x as [B, T, H, h], axis = 1)
    b = concat(x, x[:, :, 1:], axis = 1)
    c = stack(x, x[:, 2:], axis = 1)
    d = concat(x, x, axis = 3)
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0204]: `concat` cannot take [B, T, D] and [B, T, H, h]: D = 6 (line 1), H = 2 (line 1), h = 3 (line 1)
 --> m.fsd:7:9
  |
7 |     a = concat(x, x as [B, T, H, h], axis = 1)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: f32[4, 8, 6] and f32[4, 8, 2, 3] differ in more than axis 1

error[E0204]: `concat` cannot take [B, T, D] and [B, T, 5]: D = 6 (line 1)
 --> m.fsd:8:9
  |
8 |     b = concat(x, x[:, :, 1:], axis = 1)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: f32[4, 8, 6] and f32[4, 8, 5] differ in more than axis 1

error[E0204]: `stack` cannot take [B, T, D] and [B, 6, D]: T = 8
 --> m.fsd:9:9
  |
9 |     c = stack(x, x[:, 2:], axis = 1)
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: operand 1 f32[4, 6, 6] and operand 0 f32[4, 8, 6] do not have the same shape

error[E0208]: [B, T, D] has axes 0 to 2
  --> m.fsd:10:29
   |
10 |     d = concat(x, x, axis = 3)
   |                             ^
   |
   = help: count axes from 0, or from -1 backwards from the last

==== exit 1

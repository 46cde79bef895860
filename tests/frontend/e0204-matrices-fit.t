# RUN: %fsdpc dump --stage=model %s
# A product of matrices that do not fit says their shapes in names.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = matmul(x as [B, T, H, h], x as [B, T, H, h] as [B, H, h, T])
    b = matmul(x, x)
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0204]: `matmul` cannot take [B, T, H, h] and [B, H, h, T]
 --> m.fsd:7:9
  |
7 |     a = matmul(x as [B, T, H, h], x as [B, T, H, h] as [B, H, h, T])
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: b f32[4, 2, 3, 8] and a f32[4, 8, 2, 3] do not have the same leading axes

error[E0204]: `matmul` cannot take [B, T, D] and [B, T, D]
 --> m.fsd:8:9
  |
8 |     b = matmul(x, x)
  |         ^^^^^^^^^^^^
  |
  = help: b f32[4, 8, 6] has K = 8, a f32[4, 8, 6] has K = 6

==== exit 1

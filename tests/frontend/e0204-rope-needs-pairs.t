# RUN: %fsdpc dump --stage=model %s -s hd=3 2>&1 | grep -E '^error|help|m.fsd' || true
# RUN: for h in 6 10; do %fsdpc dump --stage=model %s -s hd=$h 2>&1 | grep 'help.*rotate' | sort; done || true
# Elements of a head turn in pairs: an odd head, odd dims, and more than a head has are refused by name.
==== m.fsd
config { H = 2; hd = 4; V = 11 }
module Net {
  wte : Embedding(V, H * hd)
  head : Linear(H * hd, V)
  forward(ids: [B, T]) {
    q = wte(ids) as [B, T, H, hd]
    a = rope(q)
    b = rope(q, dims = 5)
    c = rope(q, dims = 8)
    f = rope(q, base = 0.5)
    d = rope(q, original = 32, low = 4)
    e = rope(wte(ids))
    return head((a + b + c + d + f) as [B, T, H * hd])
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0204]: `rope` cannot take [B, T, H, hd]
 --> m.fsd:7:9
  = help: rope rotates pairs of elements, but a head has 3 of them
error[E0204]: `rope` cannot take [B, T, H, hd]
 --> m.fsd:8:9
  = help: a head has 3 elements, so 5 cannot be rotated
error[E0204]: `rope` cannot take [B, T, H, hd]
 --> m.fsd:9:9
  = help: a head has 3 elements, so 8 cannot be rotated
error[E0311]: `base` of `rope` must be at least 1, not 0.5
  --> m.fsd:10:24
error[E0204]: `rope` cannot take [B, T, H, hd]
  --> m.fsd:11:9
   = help: low must be less than high
error[E0204]: `rope` cannot take [B, T, H*hd]
  --> m.fsd:12:9
   = help: x must be [B, T, H, h], not f32[1, 8, 6]
  = help: a head has 6 elements, so 8 cannot be rotated
  = help: rope rotates pairs of elements, but dims = 5 is odd
  = help: rope rotates pairs of elements, but dims = 5 is odd

# RUN: %fsdpc dump --stage=comm -n 2 -s train.precision=bf16 %s | sed -n '/^program eval/,/^end/p' | grep -oE '[0-9a-z]+\[[0-9]+\](, %[0-9]+: [0-9a-z]+\[[0-9]+\])* = (cast|unshard)\([^)]*\)'
# A parameter in f32 is gathered without a cast, together with those in bf16.
==== net.fsd
module M {
  a : param[2, 3] = zeros
  n : param[2] = ones @f32
  b : param[2, 2] = zeros @frozen
  forward(x) = linear(layer_norm(linear(x, a), n), b)
}
module Net {
  e : param[3, 3] = zeros
  m : M
  forward(ids: [B, S]) = m(gather(e, ids))
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = M }
==== out
bf16[5] = cast(%66)
bf16[10] = unshard(%67)
bf16[3] = cast(%63)
bf16[2] = cast(%65)
bf16[6], %79: f32[2], %80: bf16[4] = unshard(%76, %64, %77)

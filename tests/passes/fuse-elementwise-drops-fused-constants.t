# RUN: %fsdpc dump --stage=wrap %s > %t/g; %fsdpc opt --pass=fuse_elementwise %t/g | sed '/^program eval/,$d' | grep -E '^formula|= (fused|constant|add|silu)[(]'
# A constant that formulas have taken goes, whatever reads the sum after it.
==== m.fsd
module Net {
  e : param[11, 6] = normal(0.02)
  w : param[11, 6] = normal(0.02)
  forward(ids: [B, T]) = linear(gather(e, ids) + 0.25, w)
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
formula 0 operands 1: f32 constant(0.25); f32 add(x0, t0) -> y0
  #6 %6: f32[1, 3, 6] = fused(%5) {index = 0} !forward unit 0 - 1:4:33-4:54

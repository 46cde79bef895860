# RUN: %fsdpc dump --stage=wrap %s > %t/g; %fsdpc opt --pass=fuse_elementwise %t/g | sed '/^program eval/,$d' | grep -E '^formula|= fused|= (mul|add|rsqrt|constant|silu|silu_grad|scale|mean)[(]'
# A chain with its constants is one op, forward and backward; what backward reads again is a result, reductions stay.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  w : param[D] = ones
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    return head(silu(x * rsqrt(mean(x * x, axis = -1) + 0.5) * w) * x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
formula 0 operands 1: f32 constant(0.5); f32 add(x0, t0); f32 rsqrt(t1) -> y0
formula 1 operands 3: f32 mul(x0, x1); f32 mul(t0, x2) -> y0; f32 silu(t1); f32 mul(t2, x0) -> y1
formula 2 operands 4: f32 mul(x0, x1); f32 silu(x2); f32 mul(x3, t1) -> y0; f32 mul(x3, x0); f32 silu_grad(t3, x2) -> y1; f32 mul(t4, t0) -> y2
formula 3 operands 3: f32 mul(x0, x1) -> y0; f32 mul(t0, x2) -> y1
formula 4 operands 5: f32 mul(x0, x1); f32 add(x2, t0); f32 mul(x3, x4); f32 add(t1, t2); f32 add(t3, t2) -> y0
formula 5 operands 3: f32 mul(x0, x1); f32 mul(t0, x2); f32 silu(t1); f32 mul(t2, x0) -> y0
  #6 %6: f32[1, 3, 6] = mul(%5, %5) !forward unit 0 - 1:8:37-8:42
  #7 %7: f32[1, 3, 1] = mean(%6) !forward unit 0 - 1:8:32-8:54
  #8 %8: f32[1, 3, 1] = fused(%7) {index = 0} !forward unit 0 - 1:8:26-8:61
  #10 %10: f32[1, 3, 6], %11: f32[1, 3, 6] = fused(%5, %8, %9) {index = 1} !forward unit 0 - 1:8:17-8:70
  #18 %18: f32[1, 3, 6], %19: f32[1, 3, 6], %20: f32[1, 3, 6] = fused(%5, %8, %10, %17) {index = 2} !backward unit 0 - 1:8:22-8:65
  #21 %22: f32[1, 3, 6], %23: f32[1, 3, 6] = fused(%19, %9, %5) {index = 3} !backward unit 0 - 1:8:22-8:61
  #25 %27: f32[1, 3, 6] = fused(%22, %8, %18, %26, %5) {index = 4} !backward unit 0 - 1:8:37-8:42

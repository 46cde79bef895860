# RUN: %fsdpc dump --stage=wrap %s > %t/g; %fsdpc opt --pass=fuse_elementwise %t/g | sed '/^program eval/,$d' | grep -E '^formula|= (fused|slice|concat|split|stack|slice_grad)' | sed 's/ !.*//'
# Rotary by hand, in halves and of neighbours, is an op each, forward and backward; so are a gate and what it opens.
==== net.fsd
config { h = 6 }
module Net {
  emb  : Embedding(4, h)
  head : Linear(h // 2, 4)
  forward(ids: [B, T]) {
    x = emb(ids)
    c = iota(h) * 0.5
    x = x * c + concat(-x[:, :, h // 2 :], x[:, :, : h // 2]) * (c + 1)
    a, b = split(x as [B, T, h // 2, 2], axis = 3)
    x = stack(a * 2 - b * 3, b * 2 + a * 3, axis = 3) as [B, T, h]
    gate, open = split(x, axis = -1, sizes = [h // 2, h // 2])
    return head(silu(gate) * open)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 4); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
formula 0 operands 1: f32 constant(0.5); f32 mul(x0, t0) -> y0
formula 1 operands 1: f32 constant(1); f32 add(x0, t0) -> y0
formula 2 operands 3: f32 mul(x0, x1); f32 slice(x0, 2, 3, 3); f32 scale(t1, -1); f32 slice(x0, 2, 0, 3); f32 concat(t2, t3, 2); f32 mul(t4, x2); f32 add(t0, t5) -> y0
formula 3 operands 1: f32 split(x0, 3, 0, 2); f32 split(x0, 3, 1, 2); f32 scale(t0, 2); f32 scale(t1, 3); f32 sub(t2, t3); f32 scale(t1, 2); f32 scale(t0, 3); f32 add(t5, t6); f32 stack(t4, t7, 3) -> y0
formula 4 operands 1: f32 slice(x0, 2, 0, 3) -> y0; f32 slice(x0, 2, 3, 3) -> y1; f32 silu(t0); f32 mul(t2, t1) -> y2
formula 5 operands 3: f32 silu(x0); f32 mul(x1, t0); f32 mul(x1, x2); f32 silu_grad(t2, x0); f32 slice_grad(t1, 2, 3, 3, 6); f32 slice_grad(t3, 2, 0, 3, 6); f32 add(t4, t5) -> y0
formula 6 operands 1: f32 split(x0, 3, 0, 2); f32 split(x0, 3, 1, 2); f32 scale(t1, 3); f32 scale(t1, 2); f32 scale(t0, -1); f32 scale(t4, 3); f32 add(t3, t5); f32 scale(t0, 2); f32 add(t2, t7); f32 stack(t8, t6, 3) -> y0
formula 7 operands 3: f32 mul(x0, x1); f32 slice(t0, 2, 0, 3); f32 slice(t0, 2, 3, 3); f32 slice_grad(t2, 2, 0, 3, 6); f32 scale(t1, -1); f32 slice_grad(t4, 2, 3, 3, 6); f32 add(t3, t5); f32 mul(x0, x2); f32 add(t6, t7) -> y0
formula 8 operands 1: f32 slice(x0, 2, 0, 3); f32 slice(x0, 2, 3, 3); f32 silu(t0); f32 mul(t2, t1) -> y0
  #8 %8: f32[6] = fused(%7) {index = 0}
  #9 %9: f32[6] = fused(%8) {index = 1}
  #10 %10: f32[2, 5, 6] = fused(%5, %8, %9) {index = 2}
  #12 %12: f32[2, 5, 3, 2] = fused(%11) {index = 3}
  #14 %14: f32[2, 5, 3], %15: f32[2, 5, 3], %16: f32[2, 5, 3] = fused(%13) {index = 4}
  #22 %23: f32[2, 5, 6] = fused(%14, %22, %15) {index = 5}
  #24 %25: f32[2, 5, 3, 2] = fused(%24) {index = 6}
  #26 %27: f32[2, 5, 6] = fused(%26, %9, %8) {index = 7}

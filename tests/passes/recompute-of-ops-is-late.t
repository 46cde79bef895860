# RUN: %fsdpc dump --stage=recompute %s | sed -n '/^program train/,/^end/p' | grep backward | sed 's/ [0-9]*:[0-9]*:[0-9]*-.*//' | grep -vE 'set_grad'
# Ops that are named are computed again, each right before the gradients that read it; the products
# between them are not, and what they read is kept.
==== m.fsd
module Part {
  n : LayerNorm(6, 1e-5)
  a : Linear(6, 7)
  b : Linear(7, 6)
  forward(x) = x + b(dropout(gelu(a(n(x))), 0.5))
}
module Net {
  part : Part[1]
  e : Embedding(5, 6)
  head : Linear(6, 5)
  forward(ids: [B, T]) { x = e(ids); for p in part { x = p(x) }; return head(x) }
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { recompute = (ops = [layer_norm, gelu, dropout]) }
==== out
  #20 %22: f32[4, 3, 5] = cross_entropy_grad(%19, %3, %21) {ignore = -100, exponent = -4} !backward -
  #21 %23: f32[5, 6] = linear_grad_weight(%22, %17) !backward "head"
  #23 %24: f32[4, 3, 6] = linear_grad_input(%22, %18) !backward "head"
  #24 %25: f32[4, 3, 7] = gelu(%12) {approx = erf} !backward recomputed "part.0"
  #25 %26: f32[4, 3, 7] = dropout(%25, %0) {salt = 0, p = 0.5} !backward recomputed "part.0"
  #26 %27: f32[6, 7] = linear_grad_weight(%24, %26) !backward "part.0.b"
  #28 %28: f32[4, 3, 7] = linear_grad_input(%24, %15) !backward "part.0.b"
  #29 %29: f32[4, 3, 7] = dropout(%28, %0) {salt = 0, p = 0.5} !backward "part.0"
  #30 %30: f32[4, 3, 7] = gelu_grad(%29, %12) {approx = erf} !backward "part.0"
  #31 %31: f32[4, 3, 6], %32: f32[4, 3], %33: f32[4, 3] = layer_norm(%5, %6, %7) {eps = 1e-05} !backward recomputed "part.0.n"
  #32 %34: f32[7, 6] = linear_grad_weight(%30, %31) !backward "part.0.a"
  #34 %35: f32[4, 3, 6] = linear_grad_input(%30, %11) !backward "part.0.a"
  #35 %36: f32[6] = sum_leading(%35) !backward "part.0.n"
  #37 %37: f32[6] = layer_norm_grad_weight(%35, %5, %32, %33) !backward "part.0.n"
  #39 %38: f32[4, 3, 6] = layer_norm_grad_input(%35, %5, %6, %32, %33) !backward "part.0.n"
  #40 %39: f32[4, 3, 6] = add(%24, %38) !backward "part.0.n"
  #41 %40: f32[5, 6] = embedding_grad(%39, %2) !backward "e"

# RUN: %fsdpc dump --stage=recompute %s | sed -n '/^program train/,/^end/p' | sed 's/ m.fsd:.*//; s/ [0-9]*:[0-9]*:[0-9]*-.*//' | grep -E 'dropout|relu|linear|layer_norm'
# What a class computed and backward reads is computed before its gradients again, from what entered
# it: nothing else, with the same salt, in the same order. What left it stays.
==== m.fsd
module Part {
  n : LayerNorm(6, 1e-5)
  a : Linear(6, 7, bias = true)
  b : Linear(7, 6)
  forward(x) = relu(b(dropout(relu(a(n(x))), 0.5)))
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
shard { recompute = Part }
==== out
  #8 %8: f32[4, 3, 6], %9: f32[4, 3], %10: f32[4, 3] = layer_norm(%5, %6, %7) {eps = 1e-05} !forward "part.0.n"
  #11 %13: f32[4, 3, 7] = linear(%8, %11, %12) !forward "part.0.a"
  #12 %14: f32[4, 3, 7] = relu(%13) !forward "part.0"
  #13 %15: f32[4, 3, 7] = dropout(%14, %0) {salt = 0, p = 0.5} !forward "part.0"
  #15 %17: f32[4, 3, 6] = linear(%15, %16) !forward "part.0.b"
  #16 %18: f32[4, 3, 6] = relu(%17) !forward "part.0"
  #18 %20: f32[4, 3, 5] = linear(%18, %19) !forward "head"
  #22 %24: f32[5, 6] = linear_grad_weight(%23, %18) !backward "head"
  #24 %25: f32[4, 3, 6] = linear_grad_input(%23, %19) !backward "head"
  #25 %26: f32[4, 3, 6] = relu_grad(%25, %18) !backward "part.0"
  #26 %27: f32[4, 3, 6], %28: f32[4, 3], %29: f32[4, 3] = layer_norm(%5, %6, %7) {eps = 1e-05} !backward recomputed "part.0.n"
  #27 %30: f32[4, 3, 7] = linear(%27, %11, %12) !backward recomputed "part.0.a"
  #28 %31: f32[4, 3, 7] = relu(%30) !backward recomputed "part.0"
  #29 %32: f32[4, 3, 7] = dropout(%31, %0) {salt = 0, p = 0.5} !backward recomputed "part.0"
  #30 %33: f32[6, 7] = linear_grad_weight(%26, %32) !backward "part.0.b"
  #32 %34: f32[4, 3, 7] = linear_grad_input(%26, %16) !backward "part.0.b"
  #33 %35: f32[4, 3, 7] = dropout(%34, %0) {salt = 0, p = 0.5} !backward "part.0"
  #34 %36: f32[4, 3, 7] = relu_grad(%35, %31) !backward "part.0"
  #37 %38: f32[7, 6] = linear_grad_weight(%36, %27) !backward "part.0.a"
  #39 %39: f32[4, 3, 6] = linear_grad_input(%36, %11) !backward "part.0.a"
  #42 %41: f32[6] = layer_norm_grad_weight(%39, %5, %28, %29) !backward "part.0.n"
  #44 %42: f32[4, 3, 6] = layer_norm_grad_input(%39, %5, %6, %28, %29) !backward "part.0.n"

# RUN: %fsdpc compile -q %s -o %t/plan 2>/dev/null; %fsdpc check %t/plan; %fsdpc dump --stage=fuse_elementwise %s 2>/dev/null | sed -n "/^program train/,/^end/p" | grep "+tp" | sed "s/ *!.*//"
# An op whose results are terms of a sum over ranks is not fused with one whose results are whole.
==== net.fsd
module N {
  w     : param[3, 3] = normal(0.5)
  table : param[4, 3] = normal(0.5)
  forward(x: [B, T, D]) = x + linear(linear(x, w), transpose(w)) * table[-1] * 2
}
module Net {
  e : Embedding(32, 3)
  n : N
  o : Linear(3, 32)
  norm(x) = x / (1 + mean(abs(x), axis = -1))
  forward(ids: [B, T]) = o(norm(n(norm(e(ids)))))
}
model = Net
data  { train = synthetic_tokens(32); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2, tp = 3); unit = root }
==== out
  #13 %13: f32[2, 4, 3]+tp = linear(%11, %12)
  #17 %17: f32[2, 4, 3]+tp = fused(%13, %16) {index = 1}
  #34 %35: f32[2, 4, 3]+tp = mul(%34, %13)
  #35 %36: f32[3]+tp = sum_leading(%35)
  #37 %38: f32[1, 3]+tp = reshape(%36)
  #38 %39: f32[4, 3]+tp = slice_grad(%38) {axis = 0, start = 3, count = 1}
  #45 %44: f32[2, 4, 3]+tp = linear_grad_input(%41, %10)

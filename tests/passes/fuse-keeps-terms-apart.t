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
  #5 %5: f32[2, 4, 3]+tp = embedding(%4, %2)
  #14 %14: f32[2, 4, 3]+tp = linear(%12, %13)
  #18 %18: f32[2, 4, 3]+tp = fused(%14, %17) {index = 1}
  #33 %33: f32[2, 4, 3]+tp = linear_grad_input(%31, %25)
  #34 %34: f32[2, 4, 3]+tp = div_grad(%33, %24, %23)
  #35 %35: f32[2, 4, 1]+tp = sum_to(%34)
  #36 %36: f32[2, 4, 3]+tp = mean_grad(%35)
  #37 %37: f32[2, 4, 3]+tp, %38: f32[2, 4, 3]+tp = fused(%33, %23, %36, %20) {index = 3}
  #50 %50: f32[2, 4, 3]+tp = linear_grad_input(%47, %11)
  #51 %51: f32[2, 4, 3]+tp, %52: f32[2, 4, 3]+tp = fused(%37, %50, %10, %9) {index = 5}
  #52 %53: f32[2, 4, 1]+tp = sum_to(%52)
  #53 %54: f32[2, 4, 3]+tp = mean_grad(%53)
  #54 %55: f32[2, 4, 3]+tp = fused(%51, %9, %54, %6) {index = 6}
  #55 %56: f32[32, 3]+tp = embedding_grad(%55, %2)

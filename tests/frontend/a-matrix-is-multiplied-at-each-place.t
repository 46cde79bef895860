# RUN: %fsdpc dump --stage=model %s | sed -n '/^program train/,/^program eval/p' | grep -E 'matmul|linear|transpose|expand' | sed 's/ !.*//'
# RUN: %fsdpc compile -q %s -o %t/plan && %fsdpc check %t/plan
# matmul with one matrix multiplies it at each place of the other operand's leading axes; axes keep their names.
==== m.fsd
config { D = 6; F = 5; V = 11; P = 3; N = 2 }
module Net {
  wte : Embedding(V, D)
  w : param[D, F] = normal(0.02)
  p : param[P, 4] = normal(0.02)
  head : Linear(P, V)
  forward(ids: [B, T]) {
    x = matmul(wte(ids), w) as [B, F, T] as [B, T, F]
    x = matmul(p, x as [B, N, 4, F]) as [B, N, F, P]
    return head(x as [B, N * F, P])[:, 2:]
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
  #7 %7: f32[5, 6] = transpose(%6) {order = 21}
  #8 %8: f32[4, 8, 5] = linear(%5, %7)
  #9 %9: f32[4, 5, 8] = transpose(%8) {order = 132}
  #10 %10: f32[4, 8, 5] = transpose(%9) {order = 132}
  #13 %13: f32[4, 2, 3, 4] = expand(%12)
  #14 %14: f32[4, 2, 3, 5] = matmul(%13, %11)
  #15 %15: f32[4, 2, 5, 3] = transpose(%14) {order = 1243}
  #18 %18: f32[4, 10, 11] = linear(%16, %17)

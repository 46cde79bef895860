# RUN: %fsdpc dump --stage=precision -s "train.precision=bf16(reduce = bf16)" %s | sed -n '/program train/,/program eval/p' | grep -E 'linear|expand|matmul|reshape|transpose|sum_leading' | sed 's/ !.*//'
# RUN: %fsdpc compile -q -n 2 -s "train.precision=bf16(reduce = bf16)" %s -o p && %fsdpc check p
# A weight marked @f32 stays one where it is transposed, reshaped or repeated: products with it, of experts too, and its gradient are f32.
==== m.fsd
config { D = 8; V = 11; H = 4; E = 2 }
module Expert { up : Linear(D, D); forward(x) = up(x) }
module Net {
  wte : Embedding(V, D)
  w : param[D, D] = normal(0.02) @f32
  u : param[H * D] = normal(0.02) @f32
  t : param[8, 8] = normal(0.02) @f32
  gate : Linear(D, E)
  experts : Expert[E] @f32
  head : Linear(H, V)
  forward(ids: [B, T]) {
    e = wte(ids)
    p, idx = topk(softmax(gate(e)), 1)
    x = matmul(e, w) + matmul(t, e) + combine(experts(dispatch(e, idx)), idx, p)
    return head(linear(x * e, u as [H, D]))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
  #7 %7: bf16[4, 8, 2] = linear(%5, %6)
  #11 %12: f32[8, 8] = transpose(%11) {order = 21}
  #12 %13: f32[4, 8, 8] = linear(%5, %12)
  #14 %15: f32[4, 8, 8] = expand(%14)
  #15 %16: f32[4, 8, 8] = matmul(%15, %5)
  #21 %24: f32[32, 8] = experts_linear(%21, %20, %22, %23)
  #26 %29: f32[4, 8] = reshape(%28)
  #27 %30: f32[4, 8, 4] = linear(%27, %29)
  #29 %32: bf16[4, 8, 11] = linear(%30, %31)
  #33 %36: bf16[11, 4] = linear_grad_weight(%35, %30)
  #35 %37: bf16[4, 8, 4] = linear_grad_input(%35, %31)
  #36 %38: f32[4, 8] = linear_grad_weight(%37, %27)
  #37 %39: bf16[4, 8, 8] = linear_grad_input(%37, %29)
  #38 %40: f32[32] = reshape(%38)
  #45 %46: f32[8, 8], %47: f32[8, 8] = experts_linear_grad_weight(%45, %21, %20)
  #48 %48: bf16[32, 8] = experts_linear_grad_input(%45, %20, %22, %23)
  #51 %51: bf16[4, 8, 8] = matmul_grad_b(%15, %43)
  #53 %53: bf16[4, 8, 8] = matmul_grad_a(%43, %5)
  #54 %54: f32[8, 8] = sum_leading(%53)
  #56 %55: f32[8, 8] = linear_grad_weight(%43, %5)
  #57 %56: bf16[4, 8, 8] = linear_grad_input(%43, %12)
  #59 %58: f32[8, 8] = transpose_grad(%55) {order = 21}
  #63 %61: bf16[2, 8] = linear_grad_weight(%60, %5)
  #65 %62: bf16[4, 8, 8] = linear_grad_input(%60, %6)

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
    x = matmul(wte(ids), w)
    x = matmul(t, x)
    p, idx = topk(softmax(gate(x)), 1)
    x += combine(experts(dispatch(x, idx)), idx, p)
    return head(linear(x, u as [H, D]))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
  #7 %7: f32[8, 8] = transpose(%6) {order = 21}
  #8 %8: f32[4, 8, 8] = linear(%5, %7)
  #10 %10: f32[4, 8, 8] = expand(%9)
  #11 %11: f32[4, 8, 8] = matmul(%10, %8)
  #13 %13: bf16[4, 8, 2] = linear(%11, %12)
  #20 %23: f32[32, 8] = experts_linear(%20, %19, %21, %22)
  #24 %27: f32[4, 8] = reshape(%26)
  #25 %28: f32[4, 8, 4] = linear(%25, %27)
  #27 %30: bf16[4, 8, 11] = linear(%28, %29)
  #31 %34: bf16[11, 4] = linear_grad_weight(%33, %28)
  #33 %35: bf16[4, 8, 4] = linear_grad_input(%33, %29)
  #34 %36: f32[4, 8] = linear_grad_weight(%35, %25)
  #35 %37: bf16[4, 8, 8] = linear_grad_input(%35, %27)
  #36 %38: f32[32] = reshape(%36)
  #41 %42: f32[8, 8], %43: f32[8, 8] = experts_linear_grad_weight(%41, %20, %19)
  #44 %44: bf16[32, 8] = experts_linear_grad_input(%41, %19, %21, %22)
  #49 %49: bf16[2, 8] = linear_grad_weight(%48, %11)
  #51 %50: bf16[4, 8, 8] = linear_grad_input(%48, %12)
  #53 %52: bf16[4, 8, 8] = matmul_grad_b(%10, %51)
  #54 %53: bf16[4, 8, 8] = matmul_grad_a(%51, %8)
  #55 %54: f32[8, 8] = sum_leading(%53)
  #57 %55: f32[8, 8] = linear_grad_weight(%52, %5)
  #58 %56: bf16[4, 8, 8] = linear_grad_input(%52, %7)
  #59 %57: f32[8, 8] = transpose_grad(%55) {order = 21}

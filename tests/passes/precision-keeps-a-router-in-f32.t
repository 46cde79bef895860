# RUN: %fsdpc dump --stage=precision -s train.precision=bf16 %s | sed -n '/program train/,/program eval/p' | grep -E 'softmax|topk|gate|combine' | sed 's/ !.*//'
# Values computed only from a product with an @f32 weight are f32, forward and backward.
==== m.fsd
config { D = 6; V = 11; E = 3 }
module Expert {
  up, down : Linear(D, D)
  forward(x) = down(silu(up(x)))
}
module Net {
  wte, head : Embedding(V, D)
  gate : Linear(D, E) @f32
  experts : Expert[E]
  forward(ids: [B, T]) {
    x = wte(ids)
    p, idx = topk(softmax(gate(x)), 2)
    return linear(combine(experts(dispatch(x, idx)), idx, p), head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
  #6 %6: f32[3, 6] = param {index = 2}
  #7 %7: f32[4, 8, 3] = linear(%5, %6)
  #8 %8: f32[4, 8, 3] = softmax(%7)
  #9 %9: f32[4, 8, 2], %10: i32[4, 8, 2] = topk(%8) {count = 2}
  #21 %24: bf16[4, 8, 6] = combine(%23, %9, %11, %12)
  #30 %32: f32[4, 8, 2] = combine_grad_weights(%31, %23, %12)
  #31 %33: bf16[64, 6] = combine_grad_rows(%31, %9, %11)
  #44 %44: f32[4, 8, 3] = topk_grad(%32, %10)
  #45 %45: f32[4, 8, 3] = softmax_grad(%44, %8)
  #46 %46: f32[3, 6] = linear_grad_weight(%45, %5)
  #47 set_grad(%46) {index = 2}
  #48 %47: f32[4, 8, 6] = linear_grad_input(%45, %6)
  #49 %48: bf16[4, 8, 6] = add(%43, %47)

# RUN: %fsdpc dump --stage=train %s 2>&1 | grep ' add(\|linear_grad' | sed 's/ !.*//'
# A parameter's gradient is summed in the reduce dtype; a contribution that others read too keeps its own.
==== net.fsd
module Net {
  e : Embedding(9, 4)
  w, b : param[3, 4] = zeros
  one, two : Linear(4, 4)
  h : Linear(4, 9)
  forward(ids) { y = w + b; return h(e(ids) + two(one(y) + b)) }
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1); precision = bf16 }
shard { mesh = (dp = 1); unit = root }
==== out
  #6 %6: bf16[3, 4] = add(%4, %5)
  #11 %11: bf16[3, 4] = add(%10, %5)
  #14 %14: bf16[4, 3, 4] = add(%8, %13)
  #19 %19: f32[9, 4] = linear_grad_weight(%17, %14)
  #21 %20: bf16[4, 3, 4] = linear_grad_input(%17, %15)
  #23 %22: f32[4, 4] = linear_grad_weight(%21, %11)
  #25 %23: bf16[3, 4] = linear_grad_input(%21, %12)
  #26 %24: f32[4, 4] = linear_grad_weight(%23, %6)
  #28 %25: f32[3, 4] = linear_grad_input(%23, %9)
  #31 %27: f32[3, 4] = add(%23, %25)
  #41 %35: bf16[3, 4] = add(%33, %34)
  #46 %40: bf16[3, 4] = add(%39, %34)
  #49 %43: bf16[4, 3, 4] = add(%37, %42)

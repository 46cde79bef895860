# RUN: %fsdpc dump --stage=train %s 2>&1 | grep ' add(\|relu_grad(' | sed 's/ !.*//'
# A parameter's gradient is summed in the reduce dtype; a contribution that others read too keeps its own.
==== net.fsd
module Net {
  e : Embedding(9, 4)
  b : param[4, 3, 4] = zeros
  h : Linear(4, 9)
  forward(ids) { y = e(ids) + b; return h(relu(y) + b) }
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1); precision = bf16 }
shard { mesh = (dp = 1); unit = root }
==== out
  #7 %7: bf16[4, 3, 4] = add(%5, %6)
  #9 %9: bf16[4, 3, 4] = add(%8, %6)
  #17 %16: bf16[4, 3, 4] = relu_grad(%15, %8)
  #18 %17: f32[4, 3, 4] = add(%15, %16)
  #45 %38: bf16[4, 3, 4] = add(%36, %37)
  #47 %40: bf16[4, 3, 4] = add(%39, %37)

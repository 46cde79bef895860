# RUN: %fsdpc dump --stage=train %s > t; g=$(sed -n 's/.*set_grad(\(%[0-9]*\)) {index = 1}.*/\1/p' t); sed "s/set_grad(%[0-9]*) {index = 0}/set_grad($g) {index = 0}/" t | %fsdpc opt --pass=wrap,shard | sed -n '/^program train/,/^end/p' | grep ' gradient(\|alpha = 1}' | sed 's/ !.*//'
# One value as the gradient of two parameters lies in one place of the flat gradient and is copied to the other.
==== net.fsd
module Net {
  e : Embedding(9, 4)
  a, b : param[4, 4] = zeros
  forward(ids) = linear(linear(linear(e(ids), a), b), e.weight)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
  #18 %18: f32[4, 4] = scale(%15) {alpha = 1}
  #21 %21: f32[68] = gradient(%18, %15, %20) {group = 0}

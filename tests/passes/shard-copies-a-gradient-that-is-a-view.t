# RUN: %fsdpc dump --stage=train %s | %fsdpc opt --pass=wrap,shard | sed -n '/^program train/,/^end/p' | grep -B2 ' gradient('
# The gradient of a reshaped parameter is copied into its place in the flat gradient.
==== net.fsd
module Net {
  e : param[2, 6] = zeros
  w : param[3, 4] = zeros
  forward(ids: [B, S]) = linear(gather(e, ids), w as [2, 6])
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
  #14 %14: f32[3, 4] = scale(%13) {alpha = 1} !backward unit 0 - 1:4:49-4:60
  #15 %15: f32[2, 6] = embedding_grad(%12, %2) !backward unit 0 - 1:4:33-4:47
  #16 %16: f32[24] = gradient(%15, %14) {group = 0} !backward unit 0 - 1:6:9-6:12

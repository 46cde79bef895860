# RUN: %fsdpc dump --stage=comm -n 2 %s | sed -n '/^program train/,/^program/p' | grep -oE ' (unshard|view|reshape|linear|linear_grad_input|reshard)\(.*!(forward|backward) unit 0'
# A reshape of a parameter is of one gather, as its view is: backward makes its own.
==== net.fsd
module L {
  w : param[2, 6] = zeros
  forward(x) = linear(x, (w as [12]) as [4, 3])
}
module Net {
  e : param[2, 3] = zeros
  l : L
  w : param[8] = zeros
  forward(ids: [B, S]) = linear(l(gather(e, ids)), w as [2, 4])
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = L }
==== out
 unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0
 view(%9) {offset = 0} !forward unit 0
 reshape(%10) !forward unit 0
 reshape(%11) !forward unit 0
 linear(%8, %12) !forward unit 0
 reshard(%9) {unit = 0} !forward unit 0
 unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !backward unit 0
 view(%25) {offset = 0} !backward unit 0
 reshape(%27) !backward unit 0
 reshape(%28) !backward unit 0
 linear_grad_input(%21, %29) !backward unit 0
 reshard(%25) {unit = 0} !backward unit 0
 reshape(%26) !backward unit 0
 reshape(%32) !backward unit 0

# RUN: %fsdpc dump --stage=shard  %s | sed -n 's/^unit //p'
# Modules of one list are one unit; a parameter tied inside of it is counted once.
==== six.fsd
module L { w, v : param[4, 4] = zeros; forward(x) = linear(linear(x, w), v) }
module Net {
  fc   : L[6]
  head : param[3, 4] = zeros
  emb  : Embedding(5, 4)
  tie fc[3].w = fc[0].w
  forward(ids: [B, S]) { x = emb(ids); for l in fc { x = l(x) }; return linear(x, head) }
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = [["fc.0", "fc.3"], ["fc.2", "fc.1"], ["fc.4", "fc.5"]] }
==== out
0 "fc.0+fc.3" L modules 2, 5 groups 0 below 48 owned 48
1 "fc.1+fc.2" L modules 3, 4 groups 1 below 64 owned 64
2 "fc.4+fc.5" L modules 6, 7 groups 2 below 64 owned 64
3 "" Net modules 0 groups 3 below 208 owned 32 root

# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.prefetch=(forward = 0, backward = 1)' %s | %python %root/tests/passes/order.py --memory
# Modules joined to a unit are gathered when the first of them runs and resharded behind the last.
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
shard { unit = [["fc.0", "fc.3"], ["fc.1", "fc.2"], ["fc.4", "fc.5"]] }
==== out
train: A:r F:r A:fc.0+fc.3 F:fc.0+fc.3 A:fc.1+fc.2 F:fc.1+fc.2 X:fc.1+fc.2 F:fc.0+fc.3 X:fc.0+fc.3 A:fc.4+fc.5 F:fc.4+fc.5 X:fc.4+fc.5 F:r | A:fc.4+fc.5 B:r X:r A:fc.0+fc.3 B:fc.4+fc.5 X:fc.4+fc.5 R:fc.4+fc.5 A:fc.1+fc.2 B:fc.0+fc.3 B:fc.1+fc.2 X:fc.1+fc.2 D:fc.4+fc.5 R:fc.1+fc.2 B:fc.0+fc.3 X:fc.0+fc.3 D:fc.1+fc.2 R:fc.0+fc.3 B:r D:fc.0+fc.3 R:r U D:r M
eval: A:r F:r A:fc.0+fc.3 F:fc.0+fc.3 A:fc.1+fc.2 F:fc.1+fc.2 X:fc.1+fc.2 F:fc.0+fc.3 X:fc.0+fc.3 A:fc.4+fc.5 F:fc.4+fc.5 X:fc.4+fc.5 F:r X:r M

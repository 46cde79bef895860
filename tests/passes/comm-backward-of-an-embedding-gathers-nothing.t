# RUN: %fsdpc dump --stage=sched -n 2 -s 'shard.unit=[Table, Linear]' -s shard.prefetch=0 %s | %python %root/tests/passes/order.py --memory
# The backward of an embedding does not read its weight, so its unit is gathered once.
==== net.fsd
module Table { w : param[4, 4] = zeros; forward(ids) = gather(w, ids) }
module Net {
  t : Table
  u : Linear(4, 4)
  head : param[3, 4] = zeros
  forward(ids: [B, S]) = linear(u(t(ids)), head)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
train: A:t F:t X:t A:u F:u X:u A:r F:r | B:r X:r R:r A:u B:u X:u D:r R:u B:t D:u R:t U D:t M
eval: A:t F:t X:t A:u F:u X:u A:r F:r X:r M
==== err
note[W0404]: not gathered for backward, which does not read their parameters: t


# RUN: %fsdpc dump --stage=train -n 2 %s | %fsdpc opt --pass=wrap,shard,optimizer > %t/g
# RUN: sed 's/prefetch_forward = 1/prefetch_forward = 2/' %t/g | %fsdpc opt --pass=comm
# An in-flight limit that the prefetch breaks is an error in a graph that comes as text, too.
==== net.fsd
module Net {
  w : param[3, 3] = zeros
  forward(ids: [B, S]) = gather(w, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0405]: prefetch = 2 needs inflight >= 3

==== exit 1

# RUN: %fsdpc dump --stage=train -n 2 %s > %t/train
# RUN: for p in shard,comm wrap,comm wrap,shard,shard wrap,shard,comm,comm; do echo $p >&2; %fsdpc opt --pass=$p %t/train || true; done
# RUN: for n in 1 2; do %fsdpc dump --stage=comm -n $n %s | %fsdpc opt --pass=comm || true; done
# shard reads what wrap leaves, comm what shard leaves; anything else is an error.
==== net.fsd
module Net {
  w : param[3, 3] = zeros
  forward(ids: [B, S]) = gather(w, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
shard,comm
error[E0506]: pass `shard` reads a graph of level shard; this one is of level train

wrap,comm
error[E0407]: comm needs the graph that optimizer leaves

wrap,shard,shard
error[E0407]: shard needs the graph that wrap leaves

wrap,shard,comm,comm
error[E0407]: comm needs the graph that optimizer leaves

error[E0506]: pass `comm` reads a graph of level shard; this one is of level comm

error[E0506]: pass `comm` reads a graph of level shard; this one is of level comm


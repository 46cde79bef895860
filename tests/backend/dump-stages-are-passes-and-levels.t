# RUN: for s in fuse_packed_attention model grad train wrap reshard shard comm schedule sched edges; do echo "$s: $(%fsdpc dump --stage=$s -n 2 %s | grep -ao 'graph [a-z]*\| view(\| reshard(\| @[0-9]*\| set_grad(' | sed 's/[0-9(]//g' | sort -u | tr -s '\n ' ' ')"; done
# RUN: %fsdpc dump --stage=none %s || true
# A stage is the graph after the pass of that name, else at the end of the level of that name.
==== net.fsd
module M { e : Embedding(256, 4); out : Linear(4, 256); forward(x) = out(e(x)) }
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
fuse_packed_attention: graph model 
model: graph model 
grad:  set_grad graph train 
train:  set_grad graph train 
wrap:  set_grad graph shard 
reshard:  set_grad graph shard 
shard: graph shard 
comm:  reshard view graph comm 
schedule:  reshard view graph sched 
sched:  @ reshard view graph sched 
edges:  @ reshard view graph sched 
==== err
error[E0503]: `--stage`: there is no stage `none`
  = help: stages: config, model, train, shard, comm, sched, cut, fuse_packed_attention, fuse_gelu, grad, recompute, place, fuse_backward, precision, stage, pad, fuse_norm, fuse_loss, wrap, reshard, fuse_elementwise, optimizer, fuse_sums, divide, schedule, memory, edges, plan


# RUN: %fsdpc dump --stage=model tiny.fsd -n 2 >%t/model
# RUN: %fsdpc dump --stage=sched tiny.fsd -n 2 >%t/sched
# RUN: %fsdpc opt --pass=fuse_packed_attention,fuse_gelu,grad,fuse_backward,precision,pad,fuse_norm,fuse_loss,wrap,shard,optimizer,comm,schedule,memory,edges %t/model | cmp - %t/sched
# All passes by hand give what the pipeline gives.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }

# RUN: %fsdpc compile -q tiny.fsd -o %t/x.bin --pass-timing 2>&1 | awk '{print $1, $3}'
# Every pass has a time.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
cut ms
fuse_packed_attention ms
fuse_gelu ms
grad ms
recompute ms
place ms
fuse_backward ms
precision ms
stage ms
pad ms
fuse_norm ms
fuse_loss ms
wrap ms
reshard ms
fuse_elementwise ms
shard ms
optimizer ms
comm ms
fuse_sums ms
divide ms
schedule ms
memory ms
edges ms

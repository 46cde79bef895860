# RUN: why() { %fsdpc compile net.fsd -o p "$@" 2>&1 | sed -n 's/^warning.W0302.: //p'; echo "$?"; }; why; why -s kind=2; why -s kind=1; why -s kind=3; why -s kind=4; why -s kind=5 -s 'shard.recompute=(ops = [layer_norm])'; why -s kind=-1 -s 'shard.recompute=(ops = [mul])'; why -s 'train."head.weight"=frozen'; why -s 'train."emb.*"=frozen'; why -s 'train.loss=cross_entropy(model(inputs), targets) + 0.1 * mean(logsumexp(model(inputs)))'; why -s 'train.loss=cross_entropy(model(inputs), targets) + cross_entropy(model(inputs), inputs)'; why -s 'train.loss=mean(model(inputs))'; why --mesh tp=2; why --mesh cp=2
# loss_chunks is a warning where logits stay whole, and says why.
==== net.fsd
config { kind = 0 }
module Net {
  emb  : Embedding(36, 8)
  if kind > 3 { ln : LayerNorm(8) }
  if kind < 0 { s : param[8] = ones }
  if kind >= 0 { head : Linear(8, 36, bias = kind == 1) }
  forward(x) {
    h = emb(x)
    if kind < 0 { return linear(h, emb.weight * s) }
    if kind == 3 { h = gelu(h) }
    if kind == 5 { h = ln(h) }
    y = head(h)
    if kind == 4 { aux(mean(head(ln(h))), weight = 0.1) }
    if kind == 2 { y = tanh(y) }
    return y
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 36); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; loss_chunks = 5 }
shard { mesh = (dp = 1) }
==== out
0
loss_chunks = 5 has no effect on this loss: the logits are not the result of a linear
0
loss_chunks = 5 has no effect on this loss: the linear that makes the logits has a bias
0
loss_chunks = 5 has no effect on this loss: the head follows a gelu
0
loss_chunks = 5 has no effect on this loss: the model uses the weight of the head again after the head
0
loss_chunks = 5 has no effect on this loss: the input of the head is recomputed
0
loss_chunks = 5 has no effect on this loss: the weight of the head is recomputed
0
loss_chunks = 5 has no effect on this loss: the weight of the head is frozen
0
loss_chunks = 5 has no effect on this loss: nothing before the head is trained
0
loss_chunks = 5 has no effect on this loss: something besides the loss reads the logits
0
loss_chunks = 5 has no effect on this loss: something besides the loss reads the logits
loss_chunks = 5 has no effect on this loss: only one term cross_entropy(logits, targets), without a factor, is computed in chunks
0
loss_chunks = 5 has no effect: the loss has no term cross_entropy(logits, targets)
0
loss_chunks = 5 has no effect on this loss: ranks share out the logits
0
loss_chunks = 5 has no effect on this loss: ranks share out the logits
0

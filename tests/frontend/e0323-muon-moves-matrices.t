# RUN: for o in 'muon()' 'muon(lr = 0, adamw_lr = 1)' 'adamw()'; do %fsdpc compile -q -s "train.optimizer=$o" %s -o p 2>&1 | grep -E '^error|^warning|help:'; done; true
# Muon moves no vectors, has an lr where the rest has one, and is there where a group speaks of it.
==== net.fsd
module Net {
  emb : Embedding(8, 4)
  norm : LayerNorm(4)
  out : Linear(4, 8)
  forward(x) = out(norm(emb(x)))
}
model = Net
data { train = synthetic_tokens(vocab = 8); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 4
        "norm.*" = group(muon = true) }
==== out
error[E0323]: Muon updates only matrices, but `norm.weight` is f32[4]
   = help: match only matrices, or put the others in a group with muon = false before it
error[E0323]: Muon updates only matrices, but `norm.bias` is f32[4]
   = help: match only matrices, or put the others in a group with muon = false before it
error[E0323]: Muon updates only matrices, but `norm.weight` is f32[4]
   = help: match only matrices, or put the others in a group with muon = false before it
error[E0323]: Muon updates only matrices, but `norm.bias` is f32[4]
   = help: match only matrices, or put the others in a group with muon = false before it
error[E0318]: adamw_lr needs an lr above 0

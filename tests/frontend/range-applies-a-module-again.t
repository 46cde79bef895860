# RUN: %fsdpc dump --stage=model %s | sed -n '/program train/,/program eval/p' | grep -c 'linear.*"fc"'; for n in -1 2.5 B 70000; do sed "s/range(L)/range($n)/" m.fsd >n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep '^error\|help:'; done; true
# A loop over range(n) applies one module n times; n is a constant of a size that a program can have.
==== m.fsd
config { D = 4; V = 8; L = 5 }
module Net {
  wte, head : Embedding(V, D)
  fc : Linear(D, D)
  forward(ids: [B, T]) {
    x = wte(ids)
    for i in range(L) { x = relu(fc(x)) }
    return linear(x, head.weight)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
5
error[E0311]: `n` of `range` must be at least 0, not -1
error[E0310]: `n` of `range` must be an integer, not a number
error[E0210]: `B` depends on the number of samples of one rank, so the model would change with the number of ranks
  = help: it can only be the size of an axis
error[E0311]: `n` of `range` must be at most 65536, not 70000

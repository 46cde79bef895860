# RUN: cuts() { %fsdpc dump --stage=cut "$@" %s | sed -n 's/^param [0-9]* "\([abc]\)[^"]*".*\( cut .*\)/\1\2/p'; }; cuts; echo; cuts -s 'shard."a.*"=whole(tp)'
# Product b reads one width and makes another: the larger one is cut, the other one where the user keeps the larger one whole.
==== net.fsd
module Net {
  e : Embedding(8, 4)
  n : LayerNorm(4)
  a : Linear(4, 16)
  b : Linear(16, 12)
  c : Linear(12, 4)
  forward(ids) = n(c(relu(b(relu(a(n(e(ids))))))))
}
model = Net
data  { train = synthetic_tokens(vocab = 4); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
shard { mesh = (tp = 2); unit = root }
==== out
a cut (tp) dim 0 outer 1 size 16
b cut (tp) dim 1 outer 1 size 16

b cut (tp) dim 0 outer 1 size 12
c cut (tp) dim 1 outer 1 size 12

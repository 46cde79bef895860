# RUN: for n in 7 8; do %fsdpc dump --stage=place %s -s data.length=$n > %t/g; echo length = $n: $(grep -c 'f32.*all_reduce' %t/g) sums stay whole; done
# Rows that the number of ranks does not divide are computed whole by each rank, which is told.
==== net.fsd
module Net {
  emb  : Embedding(32, 8)
  up   : Linear(8, 16)
  down : Linear(16, 8)
  head : Linear(8, 32)
  forward(ids: [B, T]) = head(relu(down(relu(up(emb(ids))))))
}
model = Net
data  { train = synthetic_tokens(32); length = 7 }
train { loss = cross_entropy(model(inputs), targets); batch = 3; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2) }
==== out
length = 7: 5 sums stay whole
length = 8: 0 sums stay whole
==== err
warning[W0302]: tp = 2: 7 rows of the model are not divisible by 2, so each of these ranks computes all of them
 --> net.fsd:6:41
  |
6 |   forward(ids: [B, T]) = head(relu(down(relu(up(emb(ids))))))
  |                                         ^^^^^^^^^^^^^^^^^^
  |
  = help: use a batch or a length that 2 divides, or rows = false


# RUN: for d in 'mask = 7' 'mask = 8' 'mask = 3, vocab = 8' 'mask = 3, vocab = 9'; do echo "$d"; %fsdpc dump --stage=model %s -s "data.train=mlm(text(\"a\"), $d)" 2>&1 | grep -A1 '^error'; done; true
# RUN: %fsdpc dump --stage=model %s -s 'data.val=mlm(text("a"), mask = 8)' 2>&1 | grep -A1 '^error'; true
# RUN: for d in '' ', mark = 7' ', mark = 7, end = 8'; do echo "spans$d"; %fsdpc dump --stage=model %s -s data.val=none -s 'train.loss=cross_entropy(model(target), labels)' -s "data.train=span_corruption(text(\"a\")$d)" 2>&1 | grep -A1 '^error'; done; true
# Masks, marks and random tokens are ids that the model takes, in data.train and in data.val.
==== m.fsd
module Net {
  w : Embedding(8, 4)
  forward(ids) = linear(w(ids), w.weight)
}
model = Net
data { train = mlm(text("a"), mask = 3); val = mlm(text("a"), mask = 0); length = 40 }
train { loss = cross_entropy(model(inputs), labels); batch = 4; steps = 2 }
==== out
mask = 7
mask = 8
error[E0318]: mask = 8, but the model takes ids from 0 to 7 in field inputs
 --> -s:1:34
mask = 3, vocab = 8
mask = 3, vocab = 9
error[E0318]: vocab = 9, but the model takes ids from 0 to 7 in field inputs
 --> -s:1:45
error[E0318]: mask = 8, but the model takes ids from 0 to 7 in field inputs
 --> -s:1:32
spans
error[E0318]: mark = 32099, but the model takes ids from 0 to 7 in field target
 --> -s:1:12
spans, mark = 7
spans, mark = 7, end = 8
error[E0318]: end = 8, but the model takes ids from 0 to 7 in field target
 --> -s:1:55

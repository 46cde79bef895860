# RUN: for d in 'mlm(npy(x = "x.npy"), mask = 3)' 'mlm(mask = 3)' 'mlm("a.txt", mask = 3)' 'mlm(tokens("a.bin"), rate = 0, mask = 3)' 'mlm(tokens("a.bin"))' 'span_corruption(text("a"), span = 0.5)' 'span_corruption(text("a"), mark = 0)'; do %fsdpc dump --stage=model %s -s "data.train=$d" 2>&1 | grep -A1 '^error'; done; true
# RUN: %fsdpc dump --stage=model %s -s 'data.train=mlm(text("a"), mask = 3)' -s 'data.val=text("a")' 2>&1 | grep '^error'; true
# RUN: %fsdpc dump --stage=model %s -s 'data.train=span_corruption(text("a"), mark = 9)' -s data.length=2 2>&1 | grep '^error'; true
# RUN: %fsdpc dump --stage=model %s -s 'data.train=mlm(text("a"), mask = 3)' 2>&1 | grep '^error'; true
# What mlm and span_corruption take, and which fields they give.
==== m.fsd
module Net {
  w : Embedding(8, 4)
  forward(ids) = linear(w(ids), w.weight)
}
model = Net
data { length = 40 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
error[E0318]: `mlm` takes a source of tokens: text, tokens, synthetic_tokens
 --> -s:1:12
error[E0312]: `mlm` needs `source`
 --> -s:1:12
error[E0310]: `source` of `mlm` must be a call, not a string
 --> -s:1:16
error[E0311]: `rate` of `mlm` must be at least 1e-06, not 0
 --> -s:1:40
error[E0312]: `mlm` needs `mask`
 --> -s:1:12
error[E0311]: `span` of `span_corruption` must be at least 1, not 0.5
 --> -s:1:46
error[E0318]: mark = 0 leaves too few ids for 2 spans: it must be at least 1
 --> -s:1:12
error[E0318]: data.val must give the same fields as data.train
error[E0318]: span_corruption needs data.length above 2
error[E0207]: the data source has no field `targets`

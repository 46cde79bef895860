# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E -A6 '^error'
# The caret is under the argument that does not fit, whatever the order in which they are given.
==== m.fsd
module Net {
  w : Embedding(4, 6)
  both(a: [B, T, 6], b: [B, T, 6]) = a + b
  forward(ids: [B, T]) = linear(both(b = ids, a = w(ids)), w.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0204]: `b` must be [B, T, 6], but it is [B, T]
 --> m.fsd:4:42
  |
4 |   forward(ids: [B, T]) = linear(both(b = ids, a = w(ids)), w.weight)
  |                                          ^^^
note: declared here
 --> m.fsd:3:22
==== exit 1

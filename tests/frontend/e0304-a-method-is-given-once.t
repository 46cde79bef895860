# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^note|-->|help:'
# A module has one method of a name, and none under `if`.
==== m.fsd
module Net {
  w : Embedding(4, 4)
  forward(x) = linear(w(x), w.weight)
  forward(x) = w(x)
  if true { helper(x) = x }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0304]: method `forward` is given twice
 --> m.fsd:4:3
note: it is also given here
 --> m.fsd:3:3
error[E0306]: method `helper` cannot be declared under `if`
 --> m.fsd:5:13
  = help: move the `if` into the method
==== exit 1

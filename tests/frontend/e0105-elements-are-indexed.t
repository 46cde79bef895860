# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# The element of an array is indexed: its number is not a field.
==== m.fsd
config { D = 4; V = 8 }
module Net {
  wte, head : Embedding(V, D)
  h : Linear(D, D)[2]
  tie head.weight = h.0.weight
  forward(ids) = h.1(wte(ids))
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
error[E0105]: `0.weight` is not a number
 --> m.fsd:5:23
  = help: write an element of an array as name[0], and its field as name[0].weight
error[E0101]: unexpected number `1`, expected name
 --> m.fsd:6:20
  = help: an element of an array is name[0]
==== exit 1

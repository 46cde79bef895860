# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# A name in other letters, small or capital, is near; a name of one letter is near to no other.
==== m.fsd
config { D = 4; V = 8 }
module Net {
  wte : embedding(V, D)
  head : Linear(D, V, Bias = true)
  forward(ids: [B, T]) { return head(q) }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = AdamW(lr = 1) }
==== out
error[E0217]: there is no module `embedding`
 --> m.fsd:3:9
  = help: did you mean `Embedding`?
error[E0208]: module Linear takes no argument `Bias`
 --> m.fsd:4:23
  = help: did you mean `bias`?
 --> std.fsd:2:8
error[E0207]: there is no name `q` here
 --> m.fsd:5:38
  = help: known names: ids, B, T, wte, head, D, V
error[E0313]: train.optimizer cannot be `AdamW`
 --> m.fsd:9:89
  = help: did you mean `adamw`?
==== exit 1

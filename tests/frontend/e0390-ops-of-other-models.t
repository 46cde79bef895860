# RUN: %fsdpc dump --stage=model %s
# An op that this version lacks is exit code 2.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    y = softmax(wte(ids))
    z = topk(wte(ids), 2)
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0390]: the function `softmax` is known but not in this version
 --> m.fsd:6:9
  |
6 |     y = softmax(wte(ids))
  |         ^^^^^^^^^^^^^^^^^

error[E0390]: the function `topk` is known but not in this version
 --> m.fsd:7:9
  |
7 |     z = topk(wte(ids), 2)
  |         ^^^^^^^^^^^^^^^^^

==== exit 2

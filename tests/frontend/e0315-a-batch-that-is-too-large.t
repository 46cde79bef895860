# RUN: %fsdpc dump --stage=model %s
# A field of more than 2^31 elements is refused.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 400M }
==== err
error[E0315]: a micro-batch of 400000000 samples of 8 tokens is too large for a rank
  --> m.fsd:11:55
   |
11 | train { loss = cross_entropy(model(inputs), targets); batch = 400M }
   |                                                       ^^^^^
   |
   = help: use more ranks, a larger train.accumulate, or a smaller train.batch or data.length

==== exit 1

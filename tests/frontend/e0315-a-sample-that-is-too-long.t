# RUN: %fsdpc dump --stage=model %s
# A field of more than 2^31 elements is refused, even where it is one sample.
==== m.fsd
module Net {
  wte : Embedding(11, 6)
  head : Linear(6, 11)
  forward(ids: [B, T]) = head(wte(ids))
}
model = Net
data { train = tokens("t.bin"); length = 2147483648 }
train { loss = cross_entropy(model(inputs), targets); batch = 1 }
==== err
error[E0315]: a micro-batch of 1 sample of 2147483648 tokens is too large for a rank
 --> m.fsd:8:55
  |
8 | train { loss = cross_entropy(model(inputs), targets); batch = 1 }
  |                                                       ^^^^^
  |
  = help: use more ranks, a larger train.accumulate, or a smaller train.batch or data.length

==== exit 1

# RUN: %fsdpc compile %s -o p 2>&1 | grep '^error\|help:'
# A longer name of a key, an argument in place of a key, and an array as a product are understood; nothing is reported twice.
==== m.fsd
module Net {
  emb : Embedding(256, 8)
  fc : Linear(8, 8)
  head : Linear(8, 256)
  forward(ids) = head(fc(emb(ids)))
}
model = Net
data  { train = synthetic_tokens(vocab_size = 256); seq_length = 32 }
train { loss = cross_entropy(model(inputs), targets); batch_size = 32; max_steps = 10; lr = 1e-3; warmup = 5; momentum = 0.9
        schedule = cosine(warmup_steps = 5) }
==== out
error[E0312]: `synthetic_tokens` has no argument `vocab_size`
  = help: did you mean `vocab`?
error[E0301]: section data has no key `seq_length`
  = help: did you mean `length`?
error[E0301]: section train has no key `batch_size`
  = help: did you mean `batch`?
error[E0301]: section train has no key `max_steps`
  = help: did you mean `steps`?
error[E0301]: section train has no key `lr`
  = help: `lr` is an argument in train.optimizer: optimizer = adamw(lr = ..)
error[E0301]: section train has no key `warmup`
  = help: `warmup` is an argument in train.schedule: schedule = constant(warmup = ..)
error[E0301]: section train has no key `momentum`
  = help: `momentum` is an argument in train.optimizer: optimizer = sgd(momentum = ..)
error[E0312]: `cosine` has no argument `warmup_steps`
   = help: did you mean `warmup`?
==== exit 1

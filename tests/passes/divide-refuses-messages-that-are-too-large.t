# RUN: %fsdpc compile %s -o p
# A stage sends 2^46 numbers to the next one: more than a plan has an outbox for.
==== net.fsd
config { D = 1048576 }
module Net {
  emb  : Embedding(5, D)
  fc   : Linear(D, D)
  head : Linear(D, 5)
  forward(ids: [B, T]) = head(fc(emb(ids)))
}
model = Net
data  { train = synthetic_tokens(vocab = 5); length = 67108864 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; accumulate = 2 }
shard { mesh = (pp = 2, dp = 1); unit = Linear }
==== err
error[E0408]: a rank would need 512 TiB for messages that stage 0 sends; a plan can hold at most 128 TiB
  = help: use a smaller batch, more ranks or smaller units

==== exit 1

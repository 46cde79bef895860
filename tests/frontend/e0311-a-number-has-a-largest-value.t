# RUN: %fsdpc compile %s -o p.bin 2>&1 | grep '^error'
# What no plan can hold is an error at its place: counts above 2^50, other numbers above 1e30.
==== m.fsd
module Net {
  fc : Linear(3, 5)
  forward(x) = fc(x)
}
model = Net
data { train = text("t.txt"); val = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2251799813685248; steps = 1125899906842625
        eval_every = 1125899906842625; eval_steps = 9223372036854775807; clip = 2e30
        optimizer = adamw(lr = 1e31, weight_decay = 1e30 * 4); schedule = cosine(final = -1e31) }
shard { inflight = 9223372036854775807 }
==== out
error[E0315]: a micro-batch of 1125899906842624 samples of 3 tokens is too large for a rank
error[E0311]: train.batch can be at most 1125899906842624, not 2251799813685248
error[E0311]: train.steps can be at most 1125899906842624, not 1125899906842625
error[E0311]: train.eval_every can be at most 1125899906842624, not 1125899906842625
error[E0311]: train.eval_steps can be at most 1125899906842624, not 9223372036854775807
error[E0311]: train.clip must be at most 1e+30, not 2e+30
error[E0311]: `lr` of `adamw` must be at most 1e+30, not 1e+31
error[E0311]: `weight_decay` of `adamw` must be at most 1e+30, not 4e+30
error[E0311]: `final` of `cosine` must be at least 0, not -1e+31
error[E0311]: shard.inflight can be at most 1125899906842624, not 9223372036854775807
==== exit 1

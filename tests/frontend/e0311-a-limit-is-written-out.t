# RUN: %fsdpc dump --stage=model %s
# A large limit is printed with all its digits.
==== m.fsd
module Net {
  fc : Linear(4, 4)
  forward(x: [B, 4]) = fc(x)
}
model = Net
data { train = synthetic(x = [20000000], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 2; steps = 1 }
==== err
error[E0311]: each element of `x` of `synthetic` must be at most 16777216, not 20000000
 --> m.fsd:6:31
  |
6 | data { train = synthetic(x = [20000000], y = 4) }
  |                               ^^^^^^^^

==== exit 1

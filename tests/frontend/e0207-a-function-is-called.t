# RUN: %fsdpc dump --stage=model %s
# A function's name without arguments is not a value, and the message says so.
==== m.fsd
module Net {
  fc : Linear(4, 4)
  forward(x: [B, 4]) = fc(x) + relu
}
model = Net
data { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 2; steps = 1 }
==== err
error[E0207]: there is no name `relu` here
 --> m.fsd:3:32
  |
3 |   forward(x: [B, 4]) = fc(x) + relu
  |                                ^^^^
  |
  = help: `relu` is a function; call it with its arguments: relu(..)

==== exit 1

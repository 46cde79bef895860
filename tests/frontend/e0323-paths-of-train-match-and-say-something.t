# RUN: %fsdpc dump --stage=train %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A path in section train is frozen or a group, given once, and a group has a rate to scale.
==== m.fsd
module Net {
  a, b : Linear(4, 4)
  forward(x) = b(relu(a(x)))
}
model = Net
data { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 2; optimizer = sgd(lr = 0)
  "a.*" = frozen; "a.weight" = group(weight_decay = 0); "c.weight" = frozen
  "b.*" = group(lr = 0.1); "b.weight" = grup(lr = 1); "*" = 3; "a.*" = frozen }
==== out
warning[W0305]: lr = 0: the weights never change
 --> m.fsd:7:67
error[E0323]: "a.weight" matches only parameters that earlier entries already match
 --> m.fsd:8:19
error[E0323]: "c.weight" matches no parameter
 --> m.fsd:8:57
  = help: did you mean `a.weight`?
error[E0318]: this group has a learning rate, but the optimizer's is 0
 --> m.fsd:9:22
  = help: set the optimizer's lr to that of the other parameters
error[E0313]: the value of a path in section train must be `frozen` or a group(..)
 --> m.fsd:9:41
  = help: did you mean `group`?
error[E0313]: the value of a path in section train must be `frozen` or a group(..)
 --> m.fsd:9:61
error[E0304]: path `a.*` is given twice
 --> m.fsd:9:64
note: it is also given here
 --> m.fsd:8:3
==== exit 1

# RUN: for r in '(Net, ops = [gelu, norm], keep = conv)' '(ops = 3)' gelu; do %fsdpc dump --stage=model -s "shard.recompute=$r" %s; done
# ops and keep take names of ops; another name is an error with the nearest one.
==== net.fsd
module Net { e : Embedding(3, 3); forward(ids) = e(ids) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0313]: `norm` is not an op that can be recomputed
 --> -s:1:36
  |
1 | shard.recompute=(Net, ops = [gelu, norm], keep = conv)
  |                                    ^^^^
  |
  = help: did you mean `layer_norm`?

error[E0313]: `conv` is not an op that can be recomputed
 --> -s:1:50
  |
1 | shard.recompute=(Net, ops = [gelu, norm], keep = conv)
  |                                                  ^^^^
  |
  = help: known names: split, stack, transpose, slice, concat, add, sub, mul, scale, relu, gelu, silu, tanh, sigmoid, ..

error[E0310]: ops must be given by name, not as an integer
 --> -s:1:24
  |
1 | shard.recompute=(ops = 3)
  |                        ^
  |
  = help: for example recompute = (ops = [gelu, layer_norm])

error[E0318]: `gelu` is an op: write recompute = (ops = gelu)
 --> -s:1:17
  |
1 | shard.recompute=gelu
  |                 ^^^^

==== exit 1

# RUN: for r in '(ops = [gelu, relu], ops = [tanh])' '(Net, keep = [])' '(ops = [gelu, 3])'; do %fsdpc dump --stage=model -s "shard.recompute=$r" %s; done
# Lists of ops are given once and contain only names.
==== net.fsd
module Net { e : Embedding(3, 3); forward(ids) = e(ids) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0304]: argument `ops` is given twice
 --> -s:1:44
  |
1 | shard.recompute=(ops = [gelu, relu], ops = [tanh])
  |                                            ^^^^^^
note: it is also given here
 --> -s:1:24
  |
1 | shard.recompute=(ops = [gelu, relu], ops = [tanh])
  |                        ^^^^^^^^^^^^

error[E0310]: ops must be given by name, not as an empty list
 --> -s:1:30
  |
1 | shard.recompute=(Net, keep = [])
  |                              ^^
  |
  = help: for example recompute = (ops = [gelu, layer_norm])

error[E0310]: ops must be given by name, not as an integer
 --> -s:1:31
  |
1 | shard.recompute=(ops = [gelu, 3])
  |                               ^
  |
  = help: for example recompute = (ops = [gelu, layer_norm])

==== exit 1

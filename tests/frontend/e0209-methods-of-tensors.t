# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# A tensor has no fields and methods: functions and names of axes do their work.
==== m.fsd
config { D = 4; V = 8 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids) {
    x = wte(ids)
    a = x.relu()
    b = x.view(2, 3)
    c = x.shape[0]
    d = linear(x, head.weight.T)
    e = x.detach()
    f = head.run(x)
    g = head[0](x)
    h = x[ids]
    return head(x)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
error[E0209]: a tensor has no field `relu`
 --> m.fsd:7:9
  = help: `relu` is a function of the tensor: relu(..)
error[E0209]: a tensor has no field `view`
 --> m.fsd:8:9
  = help: write x as [B, T, H, D // H]
error[E0209]: a tensor has no field `shape`
 --> m.fsd:9:9
  = help: axes have the names that the method declares: forward(x: [B, T, D])
error[E0209]: a parameter has no field `T`
  --> m.fsd:10:19
   = help: name the axes in their new order: x as [D, V]; linear(x, w) takes w as [out, in]
error[E0209]: a tensor has no field `detach`
  --> m.fsd:11:9
   = help: write stop_gradient(x)
error[E0209]: module Linear has no field `run`
  --> m.fsd:12:14
   = help: known names: weight, bias, inp, out, bias, init, forward
error[E0209]: a module has no elements
  --> m.fsd:13:9
   = help: an array of modules is declared with its length: name : Module(..)[2]
error[E0310]: an index must be an integer, not a tensor
  --> m.fsd:14:11
   = help: gather(table, ids) looks up the rows of a table by ids
==== exit 1

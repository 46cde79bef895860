# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# A module in place of a tensor gives the advice to call it; a setting of the wrong kind gives an example.
==== m.fsd
config { D = 4; V = 8 }
module Net {
  wte : Embedding(V, D)
  fc, head : Linear(D, V)
  forward(ids: [B, T]) {
    x = relu(wte)
    y = wte(ids) + fc
    z = wte(ids) as [B, T, 2, -1]
    return head(wte(ids))
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
shard { mesh = 2; unit = 3; recompute = true }
==== out
error[E0310]: `x` of `relu` must be a tensor, not a module
 --> m.fsd:6:14
  = help: call the module, name(x), or write one of its parameters, name.weight
error[E0202]: `+` takes two tensors or a tensor and a number; `fc` is a module
 --> m.fsd:7:20
  = help: call the module to get a tensor: fc(x)
error[E0204]: the size of an axis must be a positive integer, not -1
 --> m.fsd:8:31
  = help: write out every axis: [B, T, H, D // H]
error[E0310]: shard.mesh must be none or a list, not an integer
  --> m.fsd:15:16
   = help: `fsdpc help shard.mesh` has an example
error[E0310]: shard.unit must be a name or a call or none or a list, not an integer
  --> m.fsd:15:26
   = help: `fsdpc help shard.unit` has an example
error[E0310]: shard.recompute must be a name or none or a list, not a boolean
  --> m.fsd:15:41
   = help: `fsdpc help shard.recompute` has an example
==== exit 1

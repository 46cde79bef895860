# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|-->|help:|^    '
# Each kind of mistake in the arguments of a function says what is wrong and what the function takes.
==== m.fsd
module Net {
  w : param[5, 3] = normal(0.1)
  forward(ids: [B, T]) {
    x = gather(w, ids)
    a = split(x, 0, axis = 1)
    b = split(axis = 1, x)
    c = relu(x, x, x)
    d = linear(x)
    e = layer_norm(x, w, epsilon = 1)
    f = attention(x, x, x, causal = 1)
    g = gelu(x, approx = tahn)
    h = dropout(x, 1)
    i = round(x)
    j = attention(x, x, x, mask = x)
    k = rms_norm(x, weight = none)
    return linear(x, w)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0208]: `axis` of `split` is given twice
 --> m.fsd:5:21
  = help: split(x: tensor, axis: int, sizes: int or list of ints?)
 --> m.fsd:5:18
error[E0208]: an argument without a name cannot follow `axis = ..`
 --> m.fsd:6:25
  = help: split(x: tensor, axis: int, sizes: int or list of ints?)
error[E0208]: `relu` takes 1 argument, but 3 are given
 --> m.fsd:7:17
  = help: relu(x: tensor)
error[E0208]: `linear` needs `weight`
 --> m.fsd:8:9
  = help: linear(x: tensor, weight: tensor, bias: tensor?)
error[E0208]: `layer_norm` has no argument `epsilon`
 --> m.fsd:9:26
  = help: layer_norm(x: tensor, weight: tensor, bias: tensor?, eps: real = 1e-5)
error[E0310]: `causal` of `attention` must be true or false, not an integer
  --> m.fsd:10:37
error[E0313]: `approx` of `gelu` cannot be `tahn`
  --> m.fsd:11:26
   = help: did you mean `tanh`?
error[E0311]: `p` of `dropout` must be below 1, not 1
  --> m.fsd:12:20
error[E0310]: `x` of `round` must be a number, not a tensor
  --> m.fsd:13:15
error[E0204]: `mask` of `attention` must be integers
  --> m.fsd:14:35
   = help: these can be fractions: int(..) cuts them off
error[E0310]: `weight` of `rms_norm` must be a tensor, not none
  --> m.fsd:15:30
==== exit 1

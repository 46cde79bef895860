# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# What PyTorch calls otherwise, or writes otherwise, is answered by what to write here.
==== lines
y = cat(x, x)
y = x.unsqueeze(1)
y = unsqueeze(x, 1)
y = where(x > 0, x, -inf)
y = F.silu(x)
y = x[..., :2]
y = split(x, 3)
y = split(emb.weight, axis = 0)
y = expand(x, B, T, D)
y = expand(x, [2, B, T, D])
y = expand(x, [B, T])
y = broadcast(x, [B, T, D])
y = concat([x, x], axis = -1)
y = chunk(x, 2)
y = expand(x, [B, T, D + 1])
y = concat(x, max(x, axis = -2), axis = -1)
if causal == 1 { x = relu(x) }
y = einsum("btd,vd->btv", x, emb.weight)
y = pow(x, 2)
y = softcap(x, 30)
y = masked_fill(x, x > 0, -inf)
y = 2 * x / 3 as [B, T, 2, D // 2]
y = x / 8 as [B, T, 2, D // 2]
y = swish(x)
y = leaky_relu(x)
==== m.fsd
config { D = 4; F = 8; V = 70; causal = true }
module Net {
  emb : Embedding(V, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    LINE
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0207]: there is no function or module `cat` here
  = help: write concat(x, y, axis = -1)
error[E0209]: a tensor has no field `unsqueeze`
  = help: write x as [B, 1, D]
error[E0207]: there is no function or module `unsqueeze` here
  = help: write x as [B, 1, D]
error[E0207]: there is no name `inf` here
  = help: use a large number, such as 1e30, which has the same effect in a softmax
error[E0209]: an integer has no field `silu`
  = help: call functions without a prefix: silu(..)
error[E0101]: unexpected `.`, expected an expression
  = help: write `:` for every axis, as in x[:, :, 1:]
error[E0208]: [B, T, D] has axes 0 to 2
  = help: count axes from 0, or from -1 backwards from the last
error[E0208]: `split` would make 70 tensors
  = help: at most 64 are allowed; give sizes for parts that keep the axis: split(x, axis = 0, sizes = [..])
error[E0208]: `expand` takes at most 2 arguments, but 4 are given
  = help: give the shape as a list: expand(x, [B, T, D])
error[E0208]: the batch axis must stay the first axis
  = help: keep the first axis as it is
error[E0208]: `shape` has fewer axes than [B, T, D]
  = help: name every axis of the result
error[E0207]: there is no function or module `broadcast` here
  = help: write expand(x, [B, T, D])
error[E0310]: each element of `x` of `concat` must be a tensor, not a list
  = help: pass tensors as separate arguments, without brackets
error[E0207]: there is no function or module `chunk` here
  = help: write split(x, axis = -1, sizes = D // 2), or sizes = [a, b]
error[E0204]: `expand` cannot take [B, T, D]
  = help: f32[4, 8, 4] does not broadcast to f32[4, 8, 5]
error[E0204]: `concat` cannot take [B, T, D] and [B, 1, D]: T = 8
  = help: f32[4, 8, 4] and f32[4, 1, 4] differ in more than axis 2; expand(x, shape) repeats an axis of size 1
error[E0202]: `==` cannot compare a boolean with a number
  = help: a boolean cannot be used in arithmetic; use it as it is or with `not`: if wide { .. }
error[E0207]: there is no function or module `einsum` here
  = help: name the axes with `as` and use matmul(a, b), or a * b and sum(.., axis = ..)
error[E0207]: there is no function or module `pow` here
  = help: write x ** 2
error[E0207]: there is no function or module `softcap` here
  = help: write c * tanh(x / c)
error[E0207]: there is no function or module `masked_fill` here
  = help: write where(seen, x, -1e30)
error[E0207]: there is no name `inf` here
  = help: use a large number, such as 1e30, which has the same effect in a softmax
error[E0204]: `as` needs a tensor, not an integer
  = help: `as` binds more tightly than `*` and `+`: (x * y) as [..]
error[E0204]: `as` needs a tensor, not an integer
  = help: `as` binds more tightly than `*` and `+`: (x * y) as [..]
error[E0207]: there is no function or module `swish` here
  = help: write silu(x)
error[E0207]: there is no function or module `leaky_relu` here
  = help: write where(x > 0, x, 0.01 * x)

# RUN: %fsdpc dump --stage=model %s >g && sed -n '/program train/,/program eval/p' g | grep -c transpose
# RUN: for z in 'double(y) as [B, h, h, T]' 'merge(y) + 0 * iota(5)'; do sed "s/z = .*/z = $z/" m.fsd >n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep '^error\|help:'; done; true
# Axes of a method's result have the names that the arguments' axes have in the caller, not those inside the method.
==== m.fsd
config { D = 8; V = 8; KV = 2; h = 4 }
module Net {
  wte, head : Embedding(V, D)
  double(x: [b, t, n, width]) = 2 * x
  merge(x: [b, t, n, width]) = x as [b, t, n * width]
  forward(ids: [B, T]) {
    x = wte(ids) as [B, T, KV, h]
    y = double(x) as [B, KV, h, T] as [B, T, KV, h]
    z = merge(y)
    return linear(z, head.weight)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
2
error[E0204]: `as` cannot make [B, h, h, T] from [B, T, KV, h]: KV = 2 (line 1)
  = help: [B, h, h, T] has 256 elements, [B, T, KV, h] has 128
error[E0204]: `+` cannot take [B, T, 8] and [5]: B = 4, T = 4
  = help: the last axis is 8 in one and 5 in the other; axes are matched from the last one back and must be equal, or one of them 1

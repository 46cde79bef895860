# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|-->|help:'
# normal takes (std) or (mean, std), and says what else it was given.
==== m.fsd
module Net {
  a : param[2] = normal()
  b : param[2] = normal(foo = 0.5)
  c : param[2] = normal(0, 0.1, 2)
  d : param[2] = normal(0, std = 0.1, mean = 1)
  e : param[2] = normal(std = 0.1, std = 0.2)
  f : param[2] = normal(std = "x")
  g : param[2] = normal(mean = 1)
  h : param[2] = normal(0, -0.1)
  i : param[2] = zeros(3)
  forward(x) = x
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0208]: `normal` needs `std`
 --> m.fsd:2:18
  = help: normal(mean: real = 0, std: real)
error[E0208]: `normal` has no argument `foo`
 --> m.fsd:3:25
  = help: normal(mean: real = 0, std: real)
error[E0208]: `normal` takes at most 2 arguments, but 3 are given
 --> m.fsd:4:33
  = help: normal(mean: real = 0, std: real)
error[E0208]: `mean` of `normal` is given twice
 --> m.fsd:5:39
  = help: normal(mean: real = 0, std: real)
 --> m.fsd:5:25
error[E0208]: `std` of `normal` is given twice
 --> m.fsd:6:36
  = help: normal(mean: real = 0, std: real)
 --> m.fsd:6:25
error[E0310]: `std` of `normal` must be a number, not a string
 --> m.fsd:7:31
error[E0208]: `normal` needs `std`
 --> m.fsd:8:18
  = help: normal(mean: real = 0, std: real)
error[E0311]: `std` of `normal` must be at least 0, not -0.1
 --> m.fsd:9:28
error[E0208]: `zeros` takes no arguments
  --> m.fsd:10:24
   = help: it is an initial value for parameters; in a method, use a number: 0 * x
error[E0204]: `cross_entropy` cannot take [B, T] and [B, T]
  --> m.fsd:15:16
   = help: logits must be f32, bf16 or f16, not i32[1, 8]
==== exit 1

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
error[E0212]: normal needs its standard deviation, `std`
 --> m.fsd:2:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: normal has no argument `foo`
 --> m.fsd:3:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: normal takes at most two numbers
 --> m.fsd:4:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: `mean` is given twice
 --> m.fsd:5:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: `std` is given twice
 --> m.fsd:6:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: `std` of normal is a number up to 1e30
 --> m.fsd:7:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: normal needs its standard deviation, `std`
 --> m.fsd:8:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: the standard deviation of normal is -0.1; it cannot be negative
 --> m.fsd:9:18
  = help: initial values are zeros, ones, normal(std) and normal(mean, std)
error[E0212]: zeros takes no arguments
  --> m.fsd:10:18
   = help: initial values are zeros, ones, normal(std) and normal(mean, std)
==== exit 1

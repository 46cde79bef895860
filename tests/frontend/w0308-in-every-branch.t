# RUN: %fsdpc dump --stage=model %s 2>&1 >/dev/null | grep -A1 '^w'
# Both branches of an `if` and bodies of loops are looked at, inside of each other too.
==== m.fsd
config { wide = true }
module Net {
  fc : Linear(4, 4)[3]
  forward(x) {
    y = x
    if wide { p = relu(x) } else {
      q = silu(x)
      for f in fc { r = f(y) }
    }
    return fc[0](y)
  }
}
model = Net
data { train = synthetic(a = [4], b = [4]) }
train { loss = mse(model(a), b) }
==== out
warning[W0308]: nothing reads `p`
 --> m.fsd:6:15
--
warning[W0308]: nothing reads `q`
 --> m.fsd:7:7
--
warning[W0308]: nothing reads `r`
 --> m.fsd:8:21

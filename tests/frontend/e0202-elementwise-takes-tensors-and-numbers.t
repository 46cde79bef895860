# RUN: %fsdpc dump --stage=model %s 2>&1 | sed '/^warning/,/-->/d' | grep -E '^error|-->|help:|^    '
# An elementwise op of something else says what it takes.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    y = x + "a"
    y = x / 0
    y = x % 2
    y = 2 // x
    y = where(1, x, x)
    y = exp("a")
    y = max(x, true)
    y = stop_gradient(2)
    if x > 0 { return x }
    y = x + B
    return head(x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0202]: `+` takes two tensors or a tensor and a number; `"a"` is a string
 --> m.fsd:7:13
error[E0203]: division by zero
 --> m.fsd:8:9
error[E0202]: `//` works on constants, not on tensors
  --> m.fsd:10:9
   = help: tensors have + - * / ** % and comparisons; floor(a / b) divides and rounds down
error[E0310]: `which` of `where` must be a tensor, not an integer
  --> m.fsd:11:15
error[E0310]: `x` of `exp` must be a number, not a string
  --> m.fsd:12:13
error[E0310]: `y` of `max` must be a number or none or a tensor, not a boolean
  --> m.fsd:13:16
error[E0310]: `x` of `stop_gradient` must be a tensor, not an integer
  --> m.fsd:14:23
error[E0210]: a condition must be true or false, not a tensor
  --> m.fsd:15:8
   = help: conditions are decided when the model is compiled; multiply comparisons of tensors, as in (x > 0) * (x < 1), and choose elements with where(..)
error[E0210]: `B` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:16:13
   = help: it can only be the size of an axis
==== exit 1

# RUN: %fsdpc dump --stage=model %s 2>&1 >/dev/null
# A function that stands alone does nothing, which is a warning, unless it is aux, or a method or field of that name; and a
# local that hides a name of the config is called like any other.
==== m.fsd
config { D = 4; V = 8; b = 2 }
module Part {
  silu : Linear(D, D)
  relu(x) { aux(mean(x), weight = 0.1); return x }
  forward(x) {
    relu(x)
    silu(x)
    tanh(x)
    for b in [relu(x)] { x = b }
    return silu(x)
  }
}
module Net {
  wte, head : Embedding(V, D)
  parts : Part[b]
  forward(ids) {
    x = wte(ids)
    for b in parts { x = b(x) }
    return linear(x, head.weight)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
warning[W0309]: nothing reads the result of `tanh`
 --> m.fsd:8:5
  |
8 |     tanh(x)
  |     ^^^^^^^
  |
  = help: a function does not change its arguments: write y = tanh(..)

warning[W0310]: `b` hides a config value of the same name
 --> m.fsd:9:9
  |
9 |     for b in [relu(x)] { x = b }
  |         ^
note: it is declared here
 --> m.fsd:1:24
  |
1 | config { D = 4; V = 8; b = 2 }
  |                        ^

warning[W0310]: `b` hides a config value of the same name
  --> m.fsd:18:9
   |
18 |     for b in parts { x = b(x) }
   |         ^
note: it is declared here
  --> m.fsd:1:24
   |
 1 | config { D = 4; V = 8; b = 2 }
   |                        ^


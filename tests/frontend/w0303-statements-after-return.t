# RUN: %fsdpc dump --stage=config %s 2>&1 | grep -E -A9 '^warning'
# Statements after `return` in a block never run, which gives a warning.
==== m.fsd
module Net {
  w : Embedding(4, 4)
  forward(x) {
    if true { return linear(w(x), w.weight) } else { return x; x = 1 }
    y = x
    return y
    y = x
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
warning[W0303]: this never runs, because the method has returned
 --> m.fsd:4:64
  |
4 |     if true { return linear(w(x), w.weight) } else { return x; x = 1 }
  |                                                                ^^^^^
note: it returns here
 --> m.fsd:4:54
  |
4 |     if true { return linear(w(x), w.weight) } else { return x; x = 1 }
  |                                                      ^^^^^^^^
--
warning[W0303]: this never runs, because the method has returned
 --> m.fsd:7:5
  |
7 |     y = x
  |     ^^^^^
note: it returns here
 --> m.fsd:6:5
  |
6 |     return y
  |     ^^^^^^^^

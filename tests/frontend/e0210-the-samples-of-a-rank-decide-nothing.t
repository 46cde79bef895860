# RUN: for n in 1 4; do %fsdpc dump --stage=model %s -n $n 2>&1 | grep -E '^error|-->|help:'; done
# RUN: %fsdpc dump --stage=model %s -n 2 -s bad=false | grep -c reshape
# A model cannot depend on how many samples a rank has; shapes can.
==== m.fsd
config { bad = true }
module Net {
  w : Embedding(4, 4)
  inner(x: [N, S, D]) {
    if bad { if N // 2 > 1 { x = relu(x) } }
    return x as [N * S, D] as [N, S, D]
  }
  forward(ids: [B, T]) {
    x = inner(w(ids))
    if bad {
      x = x * (1 / B) * [1, 2, 4][B // 8]
      if min(B, 7) == 4 { x = relu(x) }
      x = dropout(x, p = 0.1 * B)
    }
    return linear(x, w.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 16 }
==== out
error[E0210]: `N // 2` depends on the number of samples of one rank, so the model would change with the number of ranks
 --> m.fsd:5:17
  = help: it can only be the size of an axis
 --> m.fsd:9:9
error[E0210]: `(1 / B)` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:11:15
   = help: it can only be the size of an axis
error[E0210]: `B // 8` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:11:35
   = help: it can only be the size of an axis
error[E0210]: `min(B, 7)` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:12:10
   = help: it can only be the size of an axis
error[E0210]: `N // 2` depends on the number of samples of one rank, so the model would change with the number of ranks
 --> m.fsd:5:17
  = help: it can only be the size of an axis
 --> m.fsd:9:9
error[E0210]: `(1 / B)` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:11:15
   = help: it can only be the size of an axis
error[E0210]: `B // 8` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:11:35
   = help: it can only be the size of an axis
error[E0210]: `min(B, 7)` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:12:10
   = help: it can only be the size of an axis
==== exit 1

# RUN: %fsdpc dump --stage=recompute %s
# A path that names no module is an error with the nearest one, an array of modules has to be opened.
==== m.fsd
module Part { l : Linear(4, 4); forward(x) = tanh(l(x)) }
module Net {
  part : Part[3]
  e : Embedding(5, 4)
  forward(ids: [B, T]) { x = e(ids); for p in part { x = p(x) }; return x }
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard {
  "prt.1" = recompute
  "part" = recompute
}
==== err
error[E0402]: recompute "prt.1": no module of that path; did you mean "part.1"?
  --> m.fsd:11:3
   |
11 |   "prt.1" = recompute
   |   ^^^^^^^

error[E0403]: recompute "part": an array of modules has no forward of its own
  --> m.fsd:12:3
   |
12 |   "part" = recompute
   |   ^^^^^^
   |
   = help: name its elements: "part.*"

==== exit 1

# RUN: %fsdpc dump --stage=wrap net.fsd | grep -E '^unit|by_path' | sed 's/^policy.*by_path/by_path/'
# RUN: %fsdpc dump --stage=wrap net2.fsd
# One path may be a unit and be computed again; the same directive twice is an error.
==== net.fsd
module Net { e, f : Embedding(3, 3); forward(ids) = e(ids) + f(ids) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { "e" = unit; "e" = recompute }
==== net2.fsd
use "net.fsd"
shard {
  "f" = recompute
  "f" = recompute
}
==== out
by_path = list("e" recompute 1:5:21-5:24)
unit 0 "e" Embedding modules 1 groups below 9 owned 9
unit 1 "" Net modules 0 groups below 18 owned 9 root
==== err
warning[W0302]: recompute has no effect on these modules: all that backward reads of them is kept anyway
 --> net.fsd:5:21
  |
5 | shard { "e" = unit; "e" = recompute }
  |                     ^^^

error[E0304]: path `f` is given twice
 --> net2.fsd:4:3
  |
4 |   "f" = recompute
  |   ^^^
note: it is also given here
 --> net2.fsd:3:3
  |
3 |   "f" = recompute
  |   ^^^

==== exit 1

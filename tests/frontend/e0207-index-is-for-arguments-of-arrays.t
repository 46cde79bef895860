# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|help:'
# The name `index` where no array of modules is made says where it is known.
==== m.fsd
module Net {
  one : Linear(4, index)
  forward(x: [B, D]) = one(x)
}
model = Net
data { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 4 }
==== out
error[E0207]: there is no name `index` here
  = help: it is defined only in the arguments of an array of modules: blocks : Block(index)[4]
==== exit 1

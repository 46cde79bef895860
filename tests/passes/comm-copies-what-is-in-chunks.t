# RUN: for n in 1 2; do %fsdpc dump --stage=comm -n $n %s | sed -n '/^program train/,/^end/p' | grep -o ' \(= \|\)\(view\|copy_out\|pack\|copy_in\|unshard\|reduce_scatter\)([^)]*) {[^}]*}' | sed 's/%[0-9]*/%/g'; echo; done
# By rows, parameters are copied out of the gathered buffer and gradients into the one to be reduced, except those in
# one piece: all of them with one rank, and a parameter of one row. If a unit stays gathered until backward, all are copied at once.
==== net.fsd
module Net {
  e : Embedding(7, 4)
  s : param[1, 4] = ones
  o : Linear(4, 7)
  forward(ids) = o(e(ids) * s)
}
model = Net
data  { train = synthetic_tokens(vocab = 7); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { layout = param }
==== out
 = view(%) {offset = 0}
 = view(%) {offset = 224}
 = view(%) {offset = 112}
 = pack(%, %, %) {group = 0}

 = unshard(%) {unit = 0, axes = (dp), comm = gather, tag = parameter}
 = copy_out(%) {index = 1}
 = copy_out(%) {index = 2}
 = view(%) {offset = 128}
 = copy_in(%, %, %) {group = 0}
 = reduce_scatter(%) {unit = 0, axes = (dp), comm = reduce, tag = gradient}


# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# Nothing is computed with a loss or metric.
==== lines
cross_entropy(model(inputs), targets) * 2
-cross_entropy(model(inputs), targets)
mean(cross_entropy(model(inputs), targets))
cross_entropy(model(inputs), targets).mean()
F.cross_entropy(model(inputs), targets)
nn.CrossEntropyLoss()(model(inputs), targets)
==== m.fsd
config { D = 4; V = 70 }
module Block {
  fc : Linear(D, D)
  forward(x) = x + fc(x)
}
module Net {
  emb : Embedding(V, D)
  h : Block[2]
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = emb(ids)
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = LINE; batch = 4 }
==== out
error[E0225]: `*` cannot be applied to a loss or metric
   = help: it is already a mean over the batch; put a factor into the learning rate, and add further terms in the model with aux(term, weight = 0.01)
error[E0225]: `-` cannot be applied to a loss or metric
   = help: it is already a mean over the batch; put a factor into the learning rate, and add further terms in the model with aux(term, weight = 0.01)
error[E0310]: `x` of `mean` must be a tensor, not a loss or metric
   = help: it is already a mean over the batch; put a factor into the learning rate, and add further terms in the model with aux(term, weight = 0.01)
error[E0209]: a loss or metric has no field `mean`
   = help: it is already a mean over the batch; put a factor into the learning rate, and add further terms in the model with aux(term, weight = 0.01)
error[E0207]: there is no name `F` here
   = help: call functions without a prefix: cross_entropy(..)
error[E0207]: there is no name `nn` here
   = help: write cross_entropy(model(inputs), targets)

# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# Losses are added and multiplied by numbers; nothing else is computed with them, and nothing with metrics.
==== lines
cross_entropy(model(inputs), targets) ** 2
cross_entropy(model(inputs), targets) + 1
mean(model(inputs)) * cross_entropy(model(inputs), targets)
cross_entropy(model(inputs), targets) / sum(targets)
sum(targets) / mean(model(inputs))
-accuracy(model(inputs), targets)
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
error[E0208]: `**` cannot combine a mean or sum over the batch, of which each rank has only a part, with an integer
   = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers
error[E0208]: `+` cannot combine a mean or sum over the batch, of which each rank has only a part, with an integer
   = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers
error[E0208]: `*` cannot combine a mean or sum over the batch, of which each rank has only a part, with another mean or sum
   = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers
error[E0208]: only means and sums over the batch can be divided by one of these
   = help: a weighted mean is sum(weight * x) / sum(weight)
error[E0208]: training changes what this sum or mean is divided by
   = help: weights are made of data, of frozen parameters, or by stop_gradient(..)
error[E0225]: `-` cannot be applied to a metric
   = help: metrics are only reported; losses can be added and multiplied by numbers
error[E0310]: `x` of `mean` must be a tensor, not a loss or metric
   = help: it is a mean over the batch, which can be added to others and multiplied by numbers; `each = true` gives the loss of each target
error[E0209]: a loss or metric has no field `mean`
   = help: it is a mean over the batch, which can be added to others and multiplied by numbers; `each = true` gives the loss of each target
error[E0207]: there is no name `F` here
   = help: call functions without a prefix: cross_entropy(..)
error[E0207]: there is no name `nn` here
   = help: write cross_entropy(model(inputs), targets)

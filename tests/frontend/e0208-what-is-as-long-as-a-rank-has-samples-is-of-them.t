# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# RUN: sed 's/LINE/x = x + expand(w, [B, T, D])/' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd -n 2 | grep -c expand
# RUN: sed 's/LINE/aux(sum(expand(w, [B, D])), weight = 1)/' m.fsd > n.fsd; for n in 1 4; do %fsdpc dump --stage=model n.fsd -n $n | grep average_loss | grep -o "alpha = [0-9]*"; done
# What `expand` makes for the samples of a rank is not added up, and its samples stay the first axis; they have no numbers.
==== lines
x = x + sum(expand(w, [B, D]), axis = 0)
x = x + sum(expand(w, [B, D]))
x = x + expand(w, [B, D])[0]
y = expand(w, [T, B, D])
y = x as [1, B * T, D]
x = x + (iota(B) as [B, 1, 1])
x = x + (iota(B * T) as [B, T, 1])
==== m.fsd
config { D = 4; V = 70 }
module Net {
  emb : Embedding(V, D)
  w : param[D] = ones
  forward(ids: [B, T]) {
    x = emb(ids) + w
    LINE
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0208]: `sum` over the samples of the batch would depend on the number of ranks
  = help: name an axis other than the first; only sum(x) and mean(x) over all axes, for aux(..), cover the whole batch
error[E0208]: `+` cannot combine a mean or sum over the batch, of which each rank has only a part, with a tensor
  = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers
error[E0208]: a single sample of the batch would depend on the number of ranks
  = help: write `:` for the first axis, as in x[:, 1:]
error[E0208]: the batch axis must stay the first axis
  = help: make the axis of that size the first one
error[E0208]: the batch axis must stay the first axis
  = help: make the axis of that size the first one
error[E0208]: `iota` over samples would number those of one rank, so the model would change with the number of ranks
  = help: number the positions within a sample, as in iota(T); a number for each sample must be a field of the data
error[E0208]: `iota` over samples would number those of one rank, so the model would change with the number of ranks
  = help: number the positions within a sample, as in iota(T); a number for each sample must be a field of the data
2
alpha = 16
alpha = 16
alpha = 16
alpha = 16

# RUN: %fsdpc dump --stage=model %s
# What ranks cannot put together of their parts is an error that says what can: sums and means of everything, added up.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  emb : Embedding(V, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    aux(x, weight = 1)
    aux(mean(x) ** 2, weight = 1)
    aux(mean(x) * mean(x * x), weight = 1)
    aux(mean(x) + 1, weight = 1)
    aux(sum(x) / B, weight = 1)
    aux(max(x), weight = 1)
    aux(mean(x, axis = 0), weight = 1)
    aux(relu(mean(x)), weight = 1)
    aux(0.5, weight = 1)
    y = x - mean(x)
    return linear(y, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
error[E0208]: `aux` takes one number for the whole batch, not [B, T, D]
 --> m.fsd:6:9
  |
6 |     aux(x, weight = 1)
  |         ^
  |
  = help: take its mean over all axes: aux(mean(x), weight = 0.01)

error[E0208]: `**` cannot combine a mean or sum over the batch, of which each rank has only a part, with an integer
 --> m.fsd:7:9
  |
7 |     aux(mean(x) ** 2, weight = 1)
  |         ^^^^^^^^^^^^
  |
  = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers

error[E0208]: `*` cannot combine a mean or sum over the batch, of which each rank has only a part, with another mean or sum
 --> m.fsd:8:9
  |
8 |     aux(mean(x) * mean(x * x), weight = 1)
  |         ^^^^^^^^^^^^^^^^^^^^^
  |
  = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers

error[E0208]: `+` cannot combine a mean or sum over the batch, of which each rank has only a part, with an integer
 --> m.fsd:9:9
  |
9 |     aux(mean(x) + 1, weight = 1)
  |         ^^^^^^^^^^^
  |
  = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers

error[E0210]: `B` depends on the number of samples of one rank, so the model would change with the number of ranks
  --> m.fsd:10:18
   |
10 |     aux(sum(x) / B, weight = 1)
   |                  ^
   |
   = help: it can only be the size of an axis

error[E0208]: `max` over the samples of the batch would depend on the number of ranks
  --> m.fsd:11:9
   |
11 |     aux(max(x), weight = 1)
   |         ^^^^^^
   |
   = help: name an axis other than the first

error[E0208]: `mean` over the samples of the batch would depend on the number of ranks
  --> m.fsd:12:9
   |
12 |     aux(mean(x, axis = 0), weight = 1)
   |         ^^^^^^^^^^^^^^^^^
   |
   = help: name an axis other than the first; only sum(x) and mean(x) over all axes, for aux(..), cover the whole batch

error[E0310]: `x` of `relu` must be a tensor, not a mean or sum over the batch
  --> m.fsd:13:14
   |
13 |     aux(relu(mean(x)), weight = 1)
   |              ^^^^^^^
   |
   = help: each rank has only a part of it, so only train.loss and aux(.., weight) take it

error[E0310]: `term` of `aux` must be a tensor or a mean or sum over the batch, not a number
  --> m.fsd:14:9
   |
14 |     aux(0.5, weight = 1)
   |         ^^^

error[E0208]: `-` cannot combine a mean or sum over the batch, of which each rank has only a part, with a tensor
  --> m.fsd:15:9
   |
15 |     y = x - mean(x)
   |         ^^^^^^^^^^^
   |
   = help: compute first and take the mean last: mean(x * x), not mean(x) * x; means over the batch can be added, and multiplied by numbers

==== exit 1

# RUN: %fsdpc dump --stage=model %s 2>&1 | sed '/^warning/,/-->/d' | grep -E '^error|-->|help:|^    '
# The axes of a reduction are checked.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    y = sum(x, axis = 3)
    y = mean(x, axis = -4)
    y = max(x, axis = [1, -2])
    y = sum(x, axis = [0, 1])
    y = min(x, axis = [2, 0])
    y = max(x, 1, axis = 2)
    y = sum(x, axis = D)
    y = mean(x, axes = 1)
    y = sum(x, axis = 1.5)
    return head(x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0208]: [B, T, D] has axes 0 to 2
 --> m.fsd:7:23
error[E0208]: [B, T, D] has axes 0 to 2
 --> m.fsd:8:24
error[E0208]: axis 1 of [B, T, D] is named twice
 --> m.fsd:9:27
error[E0208]: `sum` over the samples of the batch would depend on the number of ranks
  --> m.fsd:10:9
   = help: name an axis other than the first; only sum(x) and mean(x) over all axes, for aux(..), cover the whole batch
error[E0208]: `min` over the samples of the batch would depend on the number of ranks
  --> m.fsd:11:9
   = help: name an axis other than the first
error[E0208]: `max` of two values takes no axis
  --> m.fsd:12:26
   = help: reduce along the axis first: max(max(x, axis = ..), y)
error[E0208]: [B, T, D] has axes 0 to 2
  --> m.fsd:13:23
error[E0208]: `mean` has no argument `axes`
  --> m.fsd:14:17
   = help: did you mean `axis`?
           mean(x: tensor, axis: int or list of ints?)
error[E0310]: `axis` of `sum` must be an integer or none or a list of numbers, not a number
  --> m.fsd:15:23
==== exit 1

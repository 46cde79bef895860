# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|-->|help:'
# A name on both sides of `as` is one axis, so as many elements stand before it; in two steps it may move.
==== m.fsd
config { C = 3; n = 2; p = 4; size = n * p }
module Net {
  head : Linear(C * p * p, 5)
  forward(image: [B, C, size, size]) {
    x = image as [B, n * n, C, p * p]
    x = image as [B, n, p, n, p, C]
    x = image as [B, C, n, p, n, p] as [B, n, n, C, p, p]
    x = image as [B, C, n, p, size] as [B, C, n, p * size]
    return head(x as [B, n * n, C * p * p])[:, 0]
  }
}
model = Net
data { train = synthetic(image = [C, size, size], label = 5) }
train { loss = cross_entropy(model(image), label); batch = 4 }
==== out
error[E0204]: `as` would make another axis of C
 --> m.fsd:5:9
  = help: `as` regroups neighbouring elements, and what stands before C is not the same in [B, C, size, size]: take axes apart first, then give all of them in another order
error[E0204]: `as` would make another axis of C
 --> m.fsd:6:9
  = help: `as` regroups neighbouring elements, and what stands before C is not the same in [B, C, size, size]: take axes apart first, then give all of them in another order
error[E0204]: `as` cannot make [B, n, n, C, p, p] from [B, C, n, p, n, p]
 --> m.fsd:7:9
  = help: `as` either regroups axes, which keep their order, or gives all of them in another order by their names: take two steps, as [..] as [..]
==== exit 1

# RUN: for x in 'image as [B, n * n, C, p * p]' 'image as [B, n, p, n, p, C]' 'image as [B, C, n, p, n, p] as [B, n, n, C, p, p]' 'image as [B, C, n, p, size] as [B, C, n, p * size]' 'image as [B, C, n, p, size] as [B, n, C, p, size]'; do sed "s/= IMAGE/= $x/" m.fsd > net.fsd; %fsdpc dump --stage=model net.fsd 2>&1 | sed -n '/^program eval/,$d;/^error/p;/help:/p;s/.*= \(reshape\|transpose\)/\1/;s/ !.*//;/^reshape\|^transpose/p'; echo; done
# A name on both sides of `as` is one axis, so as many elements stand before it; in two steps it may move.
==== m.fsd
config { C = 3; n = 2; p = 4; size = n * p }
module Net {
  head : Linear(C * p * p, 5)
  forward(image: [B, C, size, size]) {
    x = IMAGE
    return head(x as [B, C * size * size] as [B, n * n, C * p * p])[:, 0]
  }
}
model = Net
data { train = synthetic(image = [C, size, size], label = 5) }
train { loss = cross_entropy(model(image), label); batch = 4 }
==== out
error[E0204]: `as` would change which elements axis C holds
  = help: `as` only regroups neighbouring elements, and the axes before C differ in [B, C, size, size]: split axes first, then list all of them in the new order

error[E0204]: `as` would change which elements axis C holds
  = help: `as` only regroups neighbouring elements, and the axes before C differ in [B, C, size, size]: split axes first, then list all of them in the new order

error[E0204]: `as` cannot make [B, n, n, C, p, p] from [B, C, n, p, n, p]: n appears twice
  = help: only axes with distinct names can move: name each of them, config { n2 = n }, or give their order: transpose(x, [0, 2, 1, ..])

reshape(%2)
reshape(%4)
reshape(%5)
reshape(%6)
reshape(%10)

reshape(%2)
transpose(%4) {order = 13245}
reshape(%5)
reshape(%6)
reshape(%10)


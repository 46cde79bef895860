# RUN: for s in 'n, p, n, p, C|n * n, p * p * C' '2, 4, 2, 4, C|2 * 2, C * 4 * 4' 'n, p, 8, C|8 * n, C * p' '8, n, p, C|n, 8 * C, p'; do sed "s/FROM/${s%|*}/; s/TO/${s#*|}/" m.fsd > net.fsd; %fsdpc dump --stage=model net.fsd 2>&1 | grep -E '^error|help:'; done; true
# RUN: for s in 'n, p, n, p, C|n * p, p * n, C' 'n, p, n, p, C|n, p * n, p * C' '8 * 8, 1, C|8, 8 * C' 'n, p, n, p, C|8, p * C * n' '8, n * p, C|size, p, n, C'; do sed "s/FROM/${s%|*}/; s/TO/${s#*|}/" m.fsd > net.fsd; %fsdpc dump --stage=model net.fsd 2>&1 | sed -n '/^program eval/,$d;s/ !.*//;/= \(reshape\|transpose\)/p' | sed -n 3p; done
# Several axes become several products only of neighbours, in their order; one axis is split, and others joined to one, in any.
==== m.fsd
config { C = 3; n = 2; p = 4; size = n * p }
module Net {
  head : Linear(C * size * size, 5)
  forward(image: [B, size, size, C]) {
    x = image as [B, size * size * C] as [B, FROM] as [B, TO]
    return head(x as [B, C * size * size])
  }
}
model = Net
data { train = synthetic(image = [size, size, C], label = 5) }
train { loss = cross_entropy(model(image), label); batch = 6 }
==== out
error[E0204]: `as` cannot make [B, n * n, p * p * C] from [B, n, p, n, p, C]: it can only merge axes that are neighbours
  = help: bring them together first: name each axis, or use transpose(x, [0, 2, 1, ..])
error[E0204]: `as` cannot make [B, 2 * 2, C * 4 * 4] from [B, 2, 4, 2, 4, C]: it can only merge axes that are neighbours
  = help: bring them together first: name each axis, or use transpose(x, [0, 2, 1, ..])
error[E0204]: `as` cannot make [B, 8 * n, C * p] from [B, n, p, 8, C]: it can only merge axes that are neighbours
  = help: bring them together first: name each axis, or use transpose(x, [0, 2, 1, ..])
error[E0204]: `as` would change which elements axis n holds
  = help: `as` only regroups neighbouring elements, and the axes before n differ in [B, 8, n, p, C]: split axes first, then list all of them in the new order
  #6 %6: f32[6, 8, 8, 3] = reshape(%5)
  #6 %6: f32[6, 2, 8, 12] = reshape(%5)
  #6 %6: f32[6, 8, 24] = reshape(%5)
  #6 %6: f32[6, 8, 24] = reshape(%5)
  #6 %6: f32[6, 8, 4, 2, 3] = reshape(%5)

# RUN: for s in 'n, p, n, p, 3|n, n, p, p, 3' '2, 4, 2, 4, C|2, 2, 4, 4, C' 'm, q, m, q, C|m, m, q, q, C' '8, 8, 3|3, 8, 8' '8, 8, C|C, 8, 8' '8, n, p, C|8, 1, p, C, n'; do sed "s/FROM/${s%|*}/; s/TO/${s#*|}/" m.fsd > net.fsd; %fsdpc dump --stage=model net.fsd 2>&1 | grep -E '^error|help:'; done; true
# RUN: for s in 'n, p, q, m, C|n, q, p, m, C' '8, 8, C|n, p, 8, 3' '8, 8, 3|m, q, 2, 4, C' '1, n, p, 8, C|n, 1, p, 8, C' 'n, p, n, p, C|n, p, size * C' '2, 4, 2, 4, C|2, 4, 24'; do sed "s/FROM/${s%|*}/; s/TO/${s#*|}/" m.fsd > net.fsd; %fsdpc dump --stage=model net.fsd 2>&1 | sed -n '/^program eval/,$d;s/ !.*//;/= \(reshape\|transpose\)/p' | sed -n 2p; done
# An axis moves only by a name of its own: one that stands twice, or a number, is refused where it would seem to move.
==== m.fsd
config { C = 3; n = 2; p = 4; m = 2; q = 4; size = n * p }
module Net {
  head : Linear(C * size * size, 5)
  forward(image: [B, size, size, C]) {
    x = image as [B, FROM] as [B, TO]
    return head(x as [B, C * size * size])
  }
}
model = Net
data { train = synthetic(image = [size, size, C], label = 5) }
train { loss = cross_entropy(model(image), label); batch = 6 }
==== out
error[E0204]: `as` cannot make [B, n, n, p, p, 3] from [B, n, p, n, p, 3]: n appears twice
  = help: only axes with distinct names can move: name each of them, config { n2 = n }, or give their order: transpose(x, [0, 2, 1, ..])
error[E0204]: `as` cannot make [B, 2, 2, 4, 4, C] from [B, 2, 4, 2, 4, C]: the axis of size 2 has no name
  = help: only axes with distinct names can move: name this one, config { n = 2 }; or, if the elements keep their order, merge axes first: as [.., a * b] as [.., c, d]
error[E0204]: `as` cannot make [B, m, m, q, q, C] from [B, m, q, m, q, C]: m appears twice
  = help: only axes with distinct names can move: name each of them, config { m2 = m }, or give their order: transpose(x, [0, 2, 1, ..])
error[E0204]: `as` cannot make [B, 3, 8, 8] from [B, 8, 8, 3]: the axis of size 3 has no name
  = help: only axes with distinct names can move: name this one, config { n = 3 }; or, if the elements keep their order, merge axes first: as [.., a * b] as [.., c, d]
error[E0204]: `as` cannot make [B, C, 8, 8] from [B, 8, 8, C]: the axis of size 8 has no name
  = help: only axes with distinct names can move: name this one, config { n = 8 }; or, if the elements keep their order, merge axes first: as [.., a * b] as [.., c, d]
error[E0204]: `as` would change which elements axis p holds
  = help: `as` only regroups neighbouring elements, and the axes before p differ in [B, 8, n, p, C]: split axes first, then list all of them in the new order
  #5 %5: f32[6, 2, 4, 4, 2, 3] = transpose(%4) {order = 124356}
  #5 %5: f32[6, 2, 4, 8, 3] = reshape(%4)
  #5 %5: f32[6, 2, 4, 2, 4, 3] = reshape(%4)
  #5 %5: f32[6, 2, 1, 4, 8, 3] = reshape(%4)
  #5 %5: f32[6, 2, 4, 24] = reshape(%4)
  #5 %5: f32[6, 2, 4, 24] = reshape(%4)

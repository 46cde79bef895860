# RUN: %fsdpc dump -W no-unused-local -W no-unread-value --stage=model %s | sed -n '/program train/,/program eval/p' | grep -E 'reshape|transpose|slice|concat|stack' | sed 's/ !.*//'
# Names in another order transpose; ranges are slices, a number drops its axis.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    y = x as [B, T, H, h] as [B, H, T, h]
    z = transpose(y)
    u, v = split(x, axis = -1, sizes = [2, 4])
    w = concat(v, u, axis = 2)[:, 1:-1, 2]
    s = stack(x, x, axis = -1)
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
  #6 %6: f32[4, 8, 2, 3] = reshape(%5)
  #7 %7: f32[4, 2, 8, 3] = transpose(%6) {order = 1324}
  #8 %8: f32[4, 2, 3, 8] = transpose(%7) {order = 1243}
  #9 %9: f32[4, 8, 2] = slice(%5) {axis = 2, start = 0, count = 2}
  #10 %10: f32[4, 8, 4] = slice(%5) {axis = 2, start = 2, count = 4}
  #11 %11: f32[4, 8, 6] = concat(%10, %9) {axis = 2}
  #12 %12: f32[4, 6, 6] = slice(%11) {axis = 1, start = 1, count = 6}
  #13 %13: f32[4, 6, 1] = slice(%12) {axis = 2, start = 2, count = 1}
  #14 %14: f32[4, 6] = reshape(%13)
  #15 %15: f32[4, 8, 6, 2] = stack(%5, %5) {axis = 3}

# RUN: for s in 'a, b = split(x, axis = -1, sizes = 4)' 'a, b = split(x, axis = -1, sizes = 5)' 'a, c, b = split(x, axis = -1, sizes = D // 2 - 1)' 'a, b = split(x, axis = -1, sizes = 8)' 'a, b = split(x, axis = 1, sizes = 1)' 'a, b = split(x, axis = -1, sizes = [5, 5])'; do echo "$s"; sed "s#LINE#$s#" m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error| slice\('; done; true
# `sizes` of split may be one number, the size of all parts; the last has what is left.
==== m.fsd
config { D = 8; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    LINE
    return head(concat(a, b, a, axis = -1)[:, :, : D])
  }
}
model = Net
data { train = tokens("t.bin"); length = 80 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
a, b = split(x, axis = -1, sizes = 4)
  #6 %6: f32[4, 80, 4] = slice(%5) {axis = 2, start = 0, count = 4} !forward - 1:7:12-7:42
  #7 %7: f32[4, 80, 4] = slice(%5) {axis = 2, start = 4, count = 4} !forward - 1:7:12-7:42
  #9 %9: f32[4, 80, 8] = slice(%8) {axis = 2, start = 0, count = 8} !forward - 1:8:17-8:54
  #20 %20: f32[4, 80, 4] = slice(%19) {axis = 2, start = 0, count = 4} !forward - 1:7:12-7:42
  #21 %21: f32[4, 80, 4] = slice(%19) {axis = 2, start = 4, count = 4} !forward - 1:7:12-7:42
  #23 %23: f32[4, 80, 8] = slice(%22) {axis = 2, start = 0, count = 8} !forward - 1:8:17-8:54
a, b = split(x, axis = -1, sizes = 5)
  #6 %6: f32[4, 80, 5] = slice(%5) {axis = 2, start = 0, count = 5} !forward - 1:7:12-7:42
  #7 %7: f32[4, 80, 3] = slice(%5) {axis = 2, start = 5, count = 3} !forward - 1:7:12-7:42
  #9 %9: f32[4, 80, 8] = slice(%8) {axis = 2, start = 0, count = 8} !forward - 1:8:17-8:54
  #20 %20: f32[4, 80, 5] = slice(%19) {axis = 2, start = 0, count = 5} !forward - 1:7:12-7:42
  #21 %21: f32[4, 80, 3] = slice(%19) {axis = 2, start = 5, count = 3} !forward - 1:7:12-7:42
  #23 %23: f32[4, 80, 8] = slice(%22) {axis = 2, start = 0, count = 8} !forward - 1:8:17-8:54
a, c, b = split(x, axis = -1, sizes = D // 2 - 1)
  #6 %6: f32[4, 80, 3] = slice(%5) {axis = 2, start = 0, count = 3} !forward - 1:7:15-7:54
  #7 %7: f32[4, 80, 3] = slice(%5) {axis = 2, start = 3, count = 3} !forward - 1:7:15-7:54
  #8 %8: f32[4, 80, 2] = slice(%5) {axis = 2, start = 6, count = 2} !forward - 1:7:15-7:54
  #20 %20: f32[4, 80, 3] = slice(%19) {axis = 2, start = 0, count = 3} !forward - 1:7:15-7:54
  #21 %21: f32[4, 80, 3] = slice(%19) {axis = 2, start = 3, count = 3} !forward - 1:7:15-7:54
  #22 %22: f32[4, 80, 2] = slice(%19) {axis = 2, start = 6, count = 2} !forward - 1:7:15-7:54
a, b = split(x, axis = -1, sizes = 8)
error[E0220]: 2 names cannot take one value
a, b = split(x, axis = 1, sizes = 1)
error[E0208]: `split` can make at most 64 tensors
a, b = split(x, axis = -1, sizes = [5, 5])
error[E0208]: `sizes` of `split` add up to 10, but axis 2 of [B, T, D] has size 8

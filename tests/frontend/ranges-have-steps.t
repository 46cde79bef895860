# RUN: %fsdpc dump --stage=model %s | sed -nE '/^program eval/,$d;/= (slice|reshape|concat)/{s/ !forward.*//;s/.*%[0-9]+: //p}'
# RUN: for e in '::2' ':, ::0' ':, ::-1' ':, 5:2:2' ':, ::1.5'; do sed "s|a = .*|a = x[$e]|" m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|= help'; done; true
# x[:, a:b:n] takes every n-th entry: runs of n entries that lie within the axis are an axis of their own, of which one entry is taken.
==== m.fsd
config { D = 6 }
module Net {
  head : Linear(D, 4)
  forward(x: [B, T, D]) {
    a = x[:, ::2]
    b = x[:, 1::3, ::5]
    return head(mean(x, axis = 1) + mean(a, axis = 1) + mean(b, axis = 1)[:, :, :1]) as [B, 4]
  }
}
model = Net
data { train = synthetic(x = [7, 6], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 3 }
==== out
f32[4, 6, 6] = slice(%2) {axis = 1, start = 0, count = 6}
f32[4, 3, 2, 6] = reshape(%4)
f32[4, 3, 1, 6] = slice(%5) {axis = 2, start = 0, count = 1}
f32[4, 3, 6] = reshape(%6)
f32[4, 1, 6] = slice(%2) {axis = 1, start = 6, count = 1}
f32[4, 4, 6] = concat(%7, %8) {axis = 1}
f32[4, 6, 6] = slice(%2) {axis = 1, start = 1, count = 6}
f32[4, 2, 3, 6] = reshape(%10)
f32[4, 2, 1, 6] = slice(%11) {axis = 2, start = 0, count = 1}
f32[4, 2, 6] = reshape(%12)
f32[4, 2, 1] = slice(%13) {axis = 2, start = 0, count = 1}
f32[4, 2, 1] = slice(%13) {axis = 2, start = 5, count = 1}
f32[4, 2, 2] = concat(%14, %15) {axis = 2}
f32[4, 1, 1] = slice(%20) {axis = 2, start = 0, count = 1}
f32[4, 4] = reshape(%24)
error[E0208]: a part of the batch would depend on the number of ranks
  = help: write `:` for the first axis, as in x[:, ::2]
error[E0310]: the step of a range must be a positive integer
error[E0310]: the step of a range must be a positive integer
error[E0204]: this range is empty
error[E0310]: the step of a range must be a positive integer

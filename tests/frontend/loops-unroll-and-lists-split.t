# RUN: %fsdpc dump -W no-unused-local --stage=model %s | sed -n '/^program train/,/^end/p' | sed 1,7d
# A loop over an array and a split leave plain ops with module paths.
==== m.fsd
config { D = 6; V = 11; B2 = 1 }
module Net {
  wte : Embedding(V, D)
  h : Linear(D, D)[2]
  head : Linear(D, V)
  forward(ids) {
    x = wte(ids)
    for l in h { x = l(x) - x }
    a, b = split(x as [B2, 8, 2, 3], axis = -2)
    if V > 10 { x = x * 2 } else { x = a }
    return head(-x / 4)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
  #6 %6: f32[6, 6] = param {index = 1} !forward "h.0" 1:8:22-8:26
  #7 %7: f32[1, 8, 6] = linear(%5, %6) !forward "h.0" 1:8:22-8:26
  #8 %8: f32[1, 8, 6] = sub(%7, %5) !forward - 1:8:22-8:30
  #9 %9: f32[6, 6] = param {index = 2} !forward "h.1" 1:8:22-8:26
  #10 %10: f32[1, 8, 6] = linear(%8, %9) !forward "h.1" 1:8:22-8:26
  #11 %11: f32[1, 8, 6] = sub(%10, %8) !forward - 1:8:22-8:30
  #12 %12: f32[1, 8, 2, 3] = reshape(%11) !forward - 1:9:18-9:36
  #13 %13: f32[1, 8, 3], %14: f32[1, 8, 3] = split(%12) {axis = 2} !forward - 1:9:12-9:48
  #14 %15: f32[1, 8, 6] = scale(%11) {alpha = 2} !forward - 1:10:21-10:26
  #15 %16: f32[1, 8, 6] = scale(%15) {alpha = -1} !forward - 1:11:17-11:19
  #16 %17: f32[1, 8, 6] = scale(%16) {alpha = 0.25} !forward - 1:11:17-11:23
  #17 %18: f32[11, 6] = param {index = 3} !forward "head" 1:11:12-11:24
  #18 %19: f32[1, 8, 11] = linear(%17, %18) !forward "head" 1:11:12-11:24
  #19 %20: i64[24], %21: f32[1, 8] = cross_entropy(%19, %3) {ignore = -100} !forward - 1:16:16-16:53
  #20 set_state(%20) {index = 2} !forward - 1:16:16-16:53
end

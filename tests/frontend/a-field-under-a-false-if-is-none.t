# RUN: %fsdpc dump --stage=model %s | sed -n '/^program train/,/^end/p'
# A bias that is switched off is not an operand.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : Linear(D, D, bias = D > 6)
  b : Linear(D, D, bias = D == 6)
  forward(ids: [B, T]) {
    return head(b(a(wte(ids))))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
program train
  #0 %0: f64[16] = state {index = 0} !forward - 1:12:16-12:31
  #1 %1: u8[2, 128] = state {index = 1} !forward - 1:12:16-12:31
  #2 %2: i32[1, 8] = field(%1, %0) {index = 0} !forward - 1:12:16-12:31
  #3 %3: i32[1, 8] = field(%1, %0) {index = 1} !forward - 1:12:16-12:31
  #4 %4: f32[11, 6] = param {index = 0} !forward "wte" 1:8:21-8:29
  #5 %5: f32[1, 8, 6] = embedding(%4, %2) !forward "wte" 1:8:21-8:29
  #6 %6: f32[6, 6] = param {index = 2} !forward "a" 1:8:19-8:30
  #7 %7: f32[1, 8, 6] = linear(%5, %6) !forward "a" 1:8:19-8:30
  #8 %8: f32[6, 6] = param {index = 3} !forward "b" 1:8:17-8:31
  #9 %9: f32[6] = param {index = 4} !forward "b" 1:8:17-8:31
  #10 %10: f32[1, 8, 6] = linear(%7, %8, %9) !forward "b" 1:8:17-8:31
  #11 %11: f32[11, 6] = param {index = 1} !forward "head" 1:8:12-8:32
  #12 %12: f32[1, 8, 11] = linear(%10, %11) !forward "head" 1:8:12-8:32
  #13 %13: i64[24], %14: f32[1, 8] = cross_entropy(%12, %3) {ignore = -100} !forward - 1:13:16-13:53
  #14 set_state(%13) {index = 2} !forward - 1:13:16-13:53
end

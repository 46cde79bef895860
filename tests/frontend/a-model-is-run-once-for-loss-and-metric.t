# RUN: %fsdpc dump --stage=model %s | sed -n '/^program eval/,/^end/p'
# The loss and the metric share one run of the model in eval.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); val = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); metric = accuracy(model(inputs), targets) }
==== out
program eval
  #10 %10: f64[16] = state {index = 0} !forward - 1:10:16-10:31
  #11 %11: u8[2, 128] = state {index = 1} !forward - 1:10:16-10:31
  #12 %12: i32[1, 8] = field(%11, %10) {index = 0} !forward - 1:10:16-10:31
  #13 %13: i32[1, 8] = field(%11, %10) {index = 1} !forward - 1:10:16-10:31
  #14 %14: f32[11, 6] = param {index = 0} !forward "wte" 1:6:17-6:25
  #15 %15: f32[1, 8, 6] = embedding(%14, %12) !forward "wte" 1:6:17-6:25
  #16 %16: f32[11, 6] = param {index = 1} !forward "head" 1:6:12-6:26
  #17 %17: f32[1, 8, 11] = linear(%15, %16) !forward "head" 1:6:12-6:26
  #18 %18: i64[24], %19: f32[1, 8] = cross_entropy(%17, %13) {ignore = -100} !forward - 1:11:16-11:53
  #19 set_state(%18) {index = 3} !forward - 1:11:16-11:53
  #20 %20: i64[24] = accuracy(%17, %13) {ignore = -100, k = 1} !forward - 1:11:64-11:96
  #21 set_state(%20) {index = 4} !forward - 1:11:64-11:96
end

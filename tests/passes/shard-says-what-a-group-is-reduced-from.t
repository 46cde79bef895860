# RUN: %fsdpc dump --stage=train -n 2 %s | %fsdpc opt --pass=wrap,shard,optimizer | sed -n '/^program train/,/^end/p'
# After shard one op stands for the gradients of a group, and parameters are read one by one as before;
# norm and update are the group's.
==== net.fsd
module Net {
  w : param[3, 3] = zeros
  forward(ids: [B, S]) = gather(w, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
program train
  #0 %0: f64[16] = state {index = 0} !forward unit 0 - 1:6:17-6:26
  #1 %1: u8[2, 384] = state {index = 1} !forward unit 0 - 1:6:17-6:26
  #2 %2: i32[12, 3] = field(%1, %0) {index = 0} !forward unit 0 - 1:6:17-6:26
  #3 %3: i32[12, 3] = field(%1, %0) {index = 1} !forward unit 0 - 1:6:17-6:26
  #4 %4: f32[3, 3] = param {index = 0} !forward unit 0 - 1:3:26-3:40
  #5 %5: f32[12, 3, 3] = embedding(%4, %2) !forward unit 0 - 1:3:26-3:40
  #6 %6: f32[12, 3, 3], %7: i64[24] = cross_entropy_both(%5, %3) {ignore = -100, exponent = -6} !forward unit 0 - 1:7:16-7:53
  #7 set_state(%7) {index = 2} !forward unit 0 - 1:7:16-7:53
  #8 %8: f32[3, 3] = embedding_grad(%6, %2) !backward unit 0 - 1:3:26-3:40
  #9 %9: f32[5] = gradient(%8) {group = 0} !backward unit 0 - 1:5:9-5:12
  #10 %10: i64[24] = grad_norm(%9) {group = 0} !update - 1:5:9-5:12
  #11 %11: f64[8] = step_scale(%7, %10, %0) {exponent = -6, on_nan = stop, clip = 0} !update - 1:5:9-5:12
  #12 set_state(%11) {index = 5} !update - 1:5:9-5:12
  #13 %12: f32[5] = state {index = 4} !update - 1:5:9-5:12
  #14 %13: f32[5] = sgd(%12, %9, %11, %0) {group = 0, weight_decay = 0, clip_value = 0} !update - 1:5:9-5:12
  #15 set_state(%13) {index = 4} !update - 1:5:9-5:12
end

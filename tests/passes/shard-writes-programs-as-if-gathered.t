# RUN: %fsdpc dump --stage=train -n 2 %s | %fsdpc opt --pass=wrap,shard | sed -n '/^program train/,/^end/p'
# Behind shard a unit is gathered once where it is first read, and a gradient is packed and reduced
# when it is complete; what a parameter had is its group's.
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
  #4 %4: f32[5] = state {index = 5} !forward unit 0 - 1:5:9-5:12
  #5 %5: f32[10] = unshard(%4) {unit = 0, axes = (), comm = gather, tag = parameter} !forward unit 0 - 1:5:9-5:12
  #6 %6: f32[3, 3] = view(%5) {offset = 0} !forward unit 0 - 1:3:26-3:40
  #7 %7: f32[12, 3, 3] = embedding(%6, %2) !forward unit 0 - 1:3:26-3:40
  #8 %8: f32[12, 3, 3], %9: i64[24] = cross_entropy_both(%7, %3) {ignore = -100, exponent = -6} !forward unit 0 - 1:7:16-7:53
  #9 set_state(%9) {index = 2} !forward unit 0 - 1:7:16-7:53
  #10 %10: f32[3, 3] = embedding_grad(%8, %2) !backward unit 0 - 1:3:26-3:40
  #11 %11: f32[10] = pack(%10) {group = 0} !backward unit 0 - 1:5:9-5:12
  #12 %12: f32[5] = reduce_scatter(%11) {unit = 0, group = 0, axes = (), comm = reduce, tag = gradient} !backward unit 0 - 1:5:9-5:12
  #13 %13: i64[24] = grad_norm(%12) {group = 0} !update - 1:5:9-5:12
  #14 %14: f64[8] = step_scale(%9, %13, %0) {exponent = -6, on_nan = stop, clip = 0} !update - 1:5:9-5:12
  #15 set_state(%14) {index = 4} !update - 1:5:9-5:12
  #16 %15: f32[5] = sgd(%4, %12, %14, %0) {index = -1, group = 0, weight_decay = 0, clip_value = 0} !update - 1:5:9-5:12
  #17 set_state(%15) {index = 5} !update - 1:5:9-5:12
end

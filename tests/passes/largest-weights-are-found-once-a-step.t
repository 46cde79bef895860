# RUN: %fsdpc dump --stage=comm -n 2 -s train.accumulate=3 net.fsd 2>&- | grep -E "program|(amax|all_reduce|quantize)\(" | sed 's/ !.*//; s/^ *#[0-9]* //'
# Of three micro-batches the first finds the largest weights, and the others read what it keeps.
==== net.fsd
module Net {
  fc : Linear(8, 8)
  forward(x) = fc(x)
}
model = Net
data  { train = synthetic(x = [8], y = 8); val = none }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5); eval_every = none }
shard { gather = f8e4m3 }
==== out
program first
%1: i32[1] = amax(%0) {group = 0}
%2: i32[1] = all_reduce(%1) {unit = -1, axes = (dp), comm = reduce, tag = metric}
%3: f8e4m3[32] = quantize(%0, %2) {group = 0}
%9: f32[8, 8] = dequantize(%4, %2) {index = 0}
program micro
%20: f8e4m3[32] = quantize(%18, %19) {group = 0}
%26: f32[8, 8] = dequantize(%21, %19) {index = 0}
program last
%41: f8e4m3[32] = quantize(%39, %40) {group = 0}
%47: f32[8, 8] = dequantize(%42, %40) {index = 0}
%61: i64[24], %62: i64[24] = all_reduce(%53, %59) {unit = -1, axes = (dp), comm = reduce, tag = metric}
program eval
%66: i32[1] = amax(%65) {group = 0}
%67: i32[1] = all_reduce(%66) {unit = -1, axes = (dp), comm = reduce, tag = metric}
%68: f8e4m3[32] = quantize(%65, %67) {group = 0}
%74: f32[8, 8] = dequantize(%69, %67) {index = 0}
%79: i64[24] = all_reduce(%77) {unit = -1, axes = (dp), comm = reduce, tag = metric}

# RUN: %fsdpc dump --stage=comm -n 2 net.fsd 2>&- | grep -E '= (amax|all_reduce|quantize|unshard|dequantize|view|linear)\(' | sed 's/ !.*//; s/^ *#[0-9]* //'
# With gather = f8e4m3 one collective finds the largest weights when a step begins; matrices are
# quantized by them before a gather and dequantized after it, biases travel with them as they are.
==== net.fsd
module Net {
  fc : Linear(8, 8, bias = true)
  head : Linear(8, 4)
  forward(x) = head(relu(fc(x)))
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5); eval_every = none; precision = bf16 }
shard { unit = Linear; gather = f8e4m3 }
==== out
%3: i32[1] = amax(%0) {group = 0}
%4: i32[1] = amax(%2) {group = 2}
%5: i32[1], %6: i32[1] = all_reduce(%3, %4) {unit = -1, axes = (dp), comm = reduce, tag = metric}
%11: f8e4m3[32] = quantize(%0, %5) {group = 0}
%13: f8e4m3[64], %14: bf16[8] = unshard(%11, %12) {unit = 0, axes = (dp), comm = gather, tag = parameter}
%15: bf16[8, 8] = dequantize(%13, %5) {index = 0}
%16: bf16[8] = view(%14) {offset = 0}
%17: bf16[24, 8] = linear(%9, %15, %16)
%20: f8e4m3[16] = quantize(%2, %6) {group = 2}
%21: f8e4m3[32] = unshard(%20) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%22: bf16[4, 8] = dequantize(%21, %6) {index = 2}
%23: bf16[24, 4:8] = linear(%19, %22)
%27: f8e4m3[16] = quantize(%2, %6) {group = 2}
%28: f8e4m3[32] = unshard(%27, %18) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%30: bf16[4, 8] = dequantize(%28, %6) {index = 2}
%49: i64[24], %50: i64[24] = all_reduce(%26, %47) {unit = -1, axes = (dp), comm = reduce, tag = metric}
%58: i32[1] = amax(%55) {group = 0}
%59: i32[1] = amax(%57) {group = 2}
%60: i32[1], %61: i32[1] = all_reduce(%58, %59) {unit = -1, axes = (dp), comm = reduce, tag = metric}
%66: f8e4m3[32] = quantize(%55, %60) {group = 0}
%68: f8e4m3[64], %69: bf16[8] = unshard(%66, %67) {unit = 0, axes = (dp), comm = gather, tag = parameter}
%70: bf16[8, 8] = dequantize(%68, %60) {index = 0}
%71: bf16[8] = view(%69) {offset = 0}
%72: bf16[24, 8] = linear(%64, %70, %71)
%75: f8e4m3[16] = quantize(%57, %61) {group = 2}
%76: f8e4m3[32] = unshard(%75) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%77: bf16[4, 8] = dequantize(%76, %61) {index = 2}
%78: bf16[24, 4:8] = linear(%74, %77)
%82: i64[24] = all_reduce(%80) {unit = -1, axes = (dp), comm = reduce, tag = metric}

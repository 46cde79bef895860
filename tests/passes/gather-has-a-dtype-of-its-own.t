# RUN: %fsdpc dump --stage=comm -n 2 net.fsd 2>&- | grep -E '^  (param|group)|= (cast|unshard|linear)\(' | sed 's/ !.*//; s/^ *#[0-9]* //'
# Parameters are cast to the dtype of the gather in their shard, gathered so, and read so; those of
# one unit with two dtypes are in one collective. Gradients have the dtype that they have without.
==== net.fsd
module Net {
  fc : Linear(8, 8, bias = true)[2]
  head : Linear(8, 4)
  forward(x) {
    for f in fc { x = relu(f(x)) }
    return head(x)
  }
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
shard { unit = Linear; gather = bf16; "*.bias" = gather(f32) }
==== out
%9: bf16[32] = cast(%0)
%10: bf16[64], %11: f32[8] = unshard(%9, %1) {unit = 0, axes = (dp), comm = gather, tag = parameter}
%14: f32[24, 8] = linear(%7, %12, %13)
%17: bf16[32] = cast(%2)
%18: bf16[64], %19: f32[8] = unshard(%17, %3) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%22: f32[24, 8] = linear(%16, %20, %21)
%25: bf16[16] = cast(%4)
%26: bf16[32] = unshard(%25, %15) {unit = 2, axes = (dp), comm = gather, tag = parameter}
%28: f32[24, 4] = linear(%24, %27)
%32: bf16[16] = cast(%4)
%33: bf16[32] = unshard(%32, %23) {unit = 2, axes = (dp), comm = gather, tag = parameter}
%41: bf16[32] = cast(%2)
%42: bf16[64], %43: f32[8] = unshard(%41, %3, %29) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%89: bf16[32] = cast(%80)
%90: bf16[64], %91: f32[8] = unshard(%89, %81) {unit = 0, axes = (dp), comm = gather, tag = parameter}
%94: f32[24, 8] = linear(%87, %92, %93)
%97: bf16[32] = cast(%82)
%98: bf16[64], %99: f32[8] = unshard(%97, %83) {unit = 1, axes = (dp), comm = gather, tag = parameter}
%102: f32[24, 8] = linear(%96, %100, %101)
%105: bf16[16] = cast(%84)
%106: bf16[32] = unshard(%105, %95) {unit = 2, axes = (dp), comm = gather, tag = parameter}
%108: f32[24, 4] = linear(%104, %107)

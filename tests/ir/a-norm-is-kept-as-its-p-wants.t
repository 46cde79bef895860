# RUN: %fsdpc dump --stage=optimizer -s shard.unit=Part -s train.clip_norm=inf %s >g 2>&1; grep -o '= \(grad_norm\|metric_add\|step_scale\).*clip_norm = [-0-9]*\|i32\[1\] = metric_add' g; sed '/grad_norm/s/clip_norm = -1/clip_norm = 1/' g | %fsdpc opt --pass= - 2>&1 | grep -o ': [a-z].*' | head -1; sed '/step_scale/s/clip_norm = -1/clip_norm = 1/' g | %fsdpc opt --pass= - 2>&1 | grep -o ': [a-z].*' | head -1; true
# The largest element is kept as bits of an f32 number, sums of powers in an exact accumulator; neither is taken for the other.
==== net.fsd
module Part { b : param[4] = ones; forward(x) = x + b }
module Net { a : param[4] = ones; part : Part; forward(x) = part(x * a) }
model = Net
data  { train = synthetic(x = [4], y = [4], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1); clip = 1 }
==== out
= grad_norm(%11) {group = 0, clip_norm = -1
= grad_norm(%14) {group = 1, clip_norm = -1
i32[1] = metric_add
= step_scale(%8, %17, %0) {exponent = -5, on_nan = stop, clip = 1, clip_norm = -1
: graph-3: program train, #16 grad_norm of part: result norm must be i64[24], not i32[1]
: graph-3: program train, #19 step_scale: norm must be i64[24], not i32[1]

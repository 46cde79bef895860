# RUN: for v in 0 3 '(65536, 2)' '(65536, 3, 0.5, 10)' '(65536, 2, 0.75, 10)' '(65536, 2, 0.5, 0)' '(65536, 2, 0.5, 1.5)' '(65536, 2, x, 1)' dynamic; do %fsdpc dump --stage=config -s train.precision=f16 -s "train.loss_scale=$v" net.fsd 2>&1 | grep -E '^error|^warning'; done; true
# RUN: %fsdpc dump --stage=config -s train.precision=bf16 -s train.loss_scale=1024 net.fsd 2>&1 | grep -E '^error|^warning'; %fsdpc dump --stage=config -s train.precision=f32 -s 'train.loss_scale=(1, 2)' net.fsd 2>&1 | grep -E '^error|^warning'; true
# RUN: for v in 'divide(0)' 'divide(1e-31)' divide average; do %fsdpc dump --stage=config -s "shard.scale=$v" net.fsd 2>&1 | grep -E '^error|help:'; done; true
# RUN: for v in f64 u8 'bf16()'; do %fsdpc dump --stage=config -s "shard.gather=$v" net.fsd 2>&1 | grep -E '^error|help:'; done; true
# RUN: %fsdpc dump --stage=config -s shard.gather=bf16 -s shard.strategy=none net.fsd 2>&1 | grep -E '^error|^warning'; true
# Each mistake in the loss scale, the gradient scale and the dtype of gathers says what is wrong.
==== net.fsd
module Net {
  fc : Linear(8, 8, bias = true)[2]
  n : RMSNorm(8)
  head : Linear(8, 4)
  forward(x) {
    for f in fc { x = relu(f(x)) }
    return head(n(x))
  }
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
shard { unit = Linear }
==== out
error[E0318]: loss_scale must start at a power of two from 1 to 2^60, not at 0
error[E0318]: loss_scale must start at a power of two from 1 to 2^60, not at 3
error[E0318]: loss_scale must be (start, growth, backoff, interval), or a number
error[E0318]: loss_scale must grow by a power of two, at least 2, not by 3
error[E0318]: loss_scale must back off by 0.5, 0.25, .., not by 0.75
error[E0318]: the interval of loss_scale must be a whole number of steps, at least 1, not 0
error[E0318]: the interval of loss_scale must be a whole number of steps, at least 1, not 1.5
error[E0318]: loss_scale must be (start, growth, backoff, interval), or a number
error[E0310]: train.loss_scale must be a number or none or a list, not a name
warning[W0302]: precision = bf16: loss_scale has no effect
error[E0318]: loss_scale must be (start, growth, backoff, interval), or a number
warning[W0302]: precision = f32: loss_scale has no effect
error[E0311]: `by` of `divide` must be above 0, not 0
error[E0318]: scale can multiply a mean gradient by at most 1e+30, not by 1e+31
error[E0312]: `divide` needs `by`
  = help: divide(by: real)
error[E0313]: shard.scale cannot be `average`
  = help: known names: mean, sum, divide
error[E0313]: shard.gather cannot be `f64`
  = help: known names: f32, bf16, f16, f8e4m3, i8
error[E0313]: shard.gather cannot be `u8`
  = help: did you mean `i8`?
error[E0310]: shard.gather must be a name or none, not a call
warning[W0302]: strategy = none: gather has no effect

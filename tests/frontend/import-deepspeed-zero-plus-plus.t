# RUN: %fsdpc dump --stage=config --deepspeed ds.json net.fsd 2>/dev/null | sed -n '/^ds.json/,$p'
# RUN: %fsdpc dump --stage=comm --deepspeed ds.json net.fsd 2>&- | sed '/program eval/,$d' | grep -oE 'i8\[.* = (retain|unshard)\(.*axes = \([a-z_, ]*[)]'
# Of ZeRO++ quantized weights are gather = i8, and the second copy of the weights, over 2 ranks, is reshard = 2:
# forward gathers from all ranks, backward from two.
==== net.fsd
module Net { fc : Linear(8, 8); up : Linear(8, 8); forward(x) = up(fc(x)) }
model = Net
data  { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
shard { mesh = (dp = 4); unit = Linear }
==== ds.json
{"zero_optimization": {"stage": 3, "zero_hpz_partition_size": 2, "zero_quantized_weights": true,
  "zero_quantized_gradients": false}}
==== out
ds.json
  zero_optimization.stage = 3
    shard.strategy = full
  zero_optimization.zero_hpz_partition_size = 2
    shard.reshard = 2
  zero_optimization.zero_quantized_weights = true
    shard.gather = i8
  zero_optimization.zero_quantized_gradients = false
    has no effect: it is switched off
i8[64] = unshard(%10) {unit = 0, axes = (dp, reshard_group)
i8[64] = unshard(%15) {unit = 1, axes = (dp, reshard_group)
i8[32] = retain(%16) {group = 1, axes = (reshard_group)
i8[64] = unshard(%19, %14) {unit = 1, axes = (reshard_group)

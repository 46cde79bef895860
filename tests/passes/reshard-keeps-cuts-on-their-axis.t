# RUN: for mesh in 'dp = 4, tp = 2' 'tp = 2, dp = 4' 'rep = 2, dp = 4, tp = 2'; do %fsdpc dump --stage=reshard %s -s "shard.mesh=($mesh)" | grep '^mesh\|^param 0\|= all_reduce\|= reduce_scatter_part' | sed 's/ module.*cut/ cut/; s/ !.*//; s/#.*= all/all/'; done
# Groups of reshard = K are an axis of their own; what is cut along tp stays so.
==== net.fsd
module Net {
  up   : Linear(8, 12)
  down : Linear(12, 4)
  forward(x) = down(relu(up(x)))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Linear; reshard = 2 }
==== out
mesh dp = 2, reshard_group = 2, tp = 2
param 0 "up.weight" cut (tp) dim 0 outer 1 size 12
  #9 %9: f32[1*tp, 4] = reduce_scatter_part(%8) {unit = -1, axis = 0, count = 1, axes = (tp), comm = reduce, tag = activation}
  all_reduce(%12) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #30 %28: f32[1*tp, 4] = reduce_scatter_part(%27) {unit = -1, axis = 0, count = 1, axes = (tp), comm = reduce, tag = activation}
  all_reduce(%30) {unit = -1, axes = (tp), comm = reduce, tag = activation}
mesh tp = 2, dp = 2, reshard_group = 2
param 0 "up.weight" cut (tp) dim 0 outer 1 size 12
  #9 %9: f32[1*tp, 4] = reduce_scatter_part(%8) {unit = -1, axis = 0, count = 1, axes = (tp), comm = reduce, tag = activation}
  all_reduce(%12) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #30 %28: f32[1*tp, 4] = reduce_scatter_part(%27) {unit = -1, axis = 0, count = 1, axes = (tp), comm = reduce, tag = activation}
  all_reduce(%30) {unit = -1, axes = (tp), comm = reduce, tag = activation}
mesh rep = 2, dp = 2, reshard_group = 2, tp = 2
param 0 "up.weight" cut (tp) dim 0 outer 1 size 12
  all_reduce(%8) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  all_reduce(%24) {unit = -1, axes = (tp), comm = reduce, tag = activation}

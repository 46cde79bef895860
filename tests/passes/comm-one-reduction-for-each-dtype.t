# RUN: for s in full none; do for p in 'bf16' 'bf16(master = f32, reduce = bf16)'; do for a in sharded local; do echo "$s, $p, $a"; %fsdpc dump --stage=sched --mesh rep=2,dp=2 -s shard.strategy=$s -s shard.cast=gather -s "train.precision=$p" -s train.accumulate=2 -s shard.accumulate=$a %s 2>&- | grep -oE '^program (first|last)|= pack|= reduce_scatter\([^)]*\)|= all_reduce\([^)]*\) \{unit = 0' | tr '\n' ' '; echo; done; done; done
# Groups of a unit that are reduced in one dtype share their collectives, also over replicas and between micro-batches; others do not.
==== net.fsd
module M { a : param[3, 3] = zeros; n : param[3] = ones @f32; forward(x) = linear(layer_norm(x, n), a) }
module Net { m : M; forward(ids: [B, S]) = m(gather(m.a, ids)) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = root }
==== out
full, bf16, sharded
program first = pack = pack = reduce_scatter(%24, %25) = all_reduce(%26, %27) {unit = 0 program last = pack = pack = reduce_scatter(%57, %58) = all_reduce(%59, %60) {unit = 0 
full, bf16, local
program first = pack = pack program last = pack = pack = reduce_scatter(%54, %57) = all_reduce(%58, %59) {unit = 0 
full, bf16(master = f32, reduce = bf16), sharded
program first = pack = reduce_scatter(%24) = all_reduce(%25) {unit = 0 = pack = reduce_scatter(%27) = all_reduce(%28) {unit = 0 program last = pack = reduce_scatter(%57) = all_reduce(%58) {unit = 0 = pack = reduce_scatter(%60) = all_reduce(%61) {unit = 0 
full, bf16(master = f32, reduce = bf16), local
program first = pack = pack program last = pack = reduce_scatter(%54) = all_reduce(%55) {unit = 0 = pack = reduce_scatter(%59) = all_reduce(%60) {unit = 0 
none, bf16, sharded
program first = pack = pack = all_reduce(%24, %25) {unit = 0 = all_reduce(%26, %27) {unit = 0 program last = pack = pack = all_reduce(%56, %57) {unit = 0 = all_reduce(%58, %59) {unit = 0 
none, bf16, local
program first = pack = pack program last = pack = pack = all_reduce(%54, %57) {unit = 0 = all_reduce(%58, %59) {unit = 0 
none, bf16(master = f32, reduce = bf16), sharded
program first = pack = all_reduce(%24) {unit = 0 = all_reduce(%25) {unit = 0 = pack = all_reduce(%27) {unit = 0 = all_reduce(%28) {unit = 0 program last = pack = all_reduce(%56) {unit = 0 = all_reduce(%57) {unit = 0 = pack = all_reduce(%59) {unit = 0 = all_reduce(%60) {unit = 0 
none, bf16(master = f32, reduce = bf16), local
program first = pack = pack program last = pack = all_reduce(%54) {unit = 0 = all_reduce(%55) {unit = 0 = pack = all_reduce(%59) {unit = 0 = all_reduce(%60) {unit = 0 

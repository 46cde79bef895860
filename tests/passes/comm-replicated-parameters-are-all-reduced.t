# RUN: cp %root/tests/passes/model-t.fsd .; %fsdpc dump --stage=comm -n 2 net.fsd 2>&1 | grep -E '^group|= (unshard|reduce_scatter|all_reduce)' | grep -v metric | sed 's/^ *#[0-9]* //; s/ !.*//' | sed -n 1,13p
# Parameters that every rank holds whole: a group of their own, in no gather, summed but not cut.
==== net.fsd
use "model-t.fsd"
shard { unit = Unit; "u1.weight" = replicate; replicate_below = 16 }
==== out
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 1@0 unpadded 24 padded 24 shard 12 split (dp)
group 1 unit 1 trainable master f32 compute f32 reduce f32 params 2@0 unpadded 48 padded 48 shard 48
group 2 unit 2 trainable master f32 compute f32 reduce f32 params 3@0 unpadded 80 padded 80 shard 40 split (dp)
group 3 unit 3 trainable master f32 compute f32 reduce f32 params 4@0 unpadded 20 padded 20 shard 10 split (dp)
group 4 unit 3 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 16 padded 16 shard 16
%5: f32[20] = unshard(%3) {unit = 3, axes = (dp), comm = gather, tag = parameter}
%12: f32[24] = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter}
%20: f32[80] = unshard(%2) {unit = 2, axes = (dp), comm = gather, tag = parameter}
%33: f32[10] = reduce_scatter(%32) {unit = 3, axes = (dp), comm = reduce, tag = gradient}
%34: f32[80] = unshard(%2, %15) {unit = 2, axes = (dp), comm = gather, tag = parameter}
%42: f32[40] = reduce_scatter(%41) {unit = 2, axes = (dp), comm = reduce, tag = gradient}
%49: f32[48] = all_reduce(%48) {unit = 1, axes = (dp), comm = reduce, tag = gradient}
%50: f32[24] = unshard(%0, %23) {unit = 0, axes = (dp), comm = gather, tag = parameter}

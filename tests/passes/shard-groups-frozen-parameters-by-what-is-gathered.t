# RUN: %fsdpc opt --pass=wrap,shard in.graph | grep ^group; sed 's/ frozen//' in.graph | %fsdpc opt --pass=wrap,shard - | grep ^group
# The dtype of reductions parts trainable parameters into groups, but no frozen ones; nothing reduces these. That of gathers parts both.
==== in.graph
graph train
mesh dp = 2
module 0 "" Net
param 0 "a" module 0 f32[4] ones key "a" compute f32 reduce f32 frozen
param 1 "b" module 0 f32[4] ones key "b" compute f32 reduce bf16 frozen
param 2 "c" module 0 f32[4] ones key "c" compute bf16 reduce bf16 frozen
program train
  #0 %0: f32[4] = param {index = 0} !forward -
  #1 %1: f32[4] = param {index = 1} !forward -
  #2 %2: bf16[4] = param {index = 2} !forward -
end
==== out
group 0 unit 0 frozen master f32 compute f32 reduce f32 params 0@0, 1@4 unpadded 8 padded 8 shard 4 split (dp)
group 1 unit 0 frozen master f32 compute bf16 reduce bf16 params 2@0 unpadded 4 padded 4 shard 2 split (dp)
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 4 padded 4 shard 2 split (dp)
group 1 unit 0 trainable master f32 compute f32 reduce bf16 params 1@0 unpadded 4 padded 4 shard 2 split (dp)
group 2 unit 0 trainable master f32 compute bf16 reduce bf16 params 2@0 unpadded 4 padded 4 shard 2 split (dp)

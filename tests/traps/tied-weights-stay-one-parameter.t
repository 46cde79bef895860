# RUN: %fsdpc dump --stage=shard -n 2 net.fsd 2>note | grep -E '^(param|group) '; grep '^note' note
# Weights that two would-be units share live in the unit around both, once: they are neither untied nor of another size.
==== net.fsd
module In { w : param[4, 4] = normal(0.5); forward(ids) = gather(w, ids) }
module Out { w : param[4, 4] = normal(0.5); forward(x) = linear(x, w) }
module Net { wte : In; fc : Linear(4, 4); head : Out; tie head.w = wte.w
  forward(ids: [B, S]) = head(relu(fc(wte(ids)))) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = [In, Out, Linear] }
==== out
param 0 "wte.w" module 1 1:1:13-1:14 f32[4, 4] normal(0.5) alias "head.w" module 3 1:2:14-2:15 key "wte.w" checkpoint "wte.w" compute f32 reduce f32
param 1 "fc.weight" module 2 2:3:3-3:9 f32[4, 4] normal(0.02) key "fc.weight" checkpoint "fc.weight" compute f32 reduce f32
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 1@0 unpadded 16 padded 16 shard 8 split (dp)
group 1 unit 1 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 16 padded 16 shard 8 split (dp)
note[W0402]: wte.w is tied to head.w: both live in the root unit; units wte, head would be empty and are dropped
note: head.w is the same parameter

# RUN: %fsdpc dump --stage=model %s | grep -E '^param|set_param'; %fsdpc dump --stage=config %s | grep '"'
# Directives of section train stand in the parameters' rows: the first one that matches.
==== m.fsd
module Net {
  a, b : Linear(4, 4, bias = true)
  forward(x) = b(relu(a(x)))
}
model = Net
data { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 2; optimizer = adamw(lr = 0.4, weight_decay = 0.2)
  "a.bias" = frozen; "*.bias" = group(weight_decay = 0); "a.*" = group(lr = 0.1) }
==== out
param 0 "a.weight" module 1 2:3:3-3:9 f32[4, 4] normal(0.02) key "a.weight" checkpoint "a.weight" compute f32 reduce f32 lr 0.25 decay 0.2
param 1 "a.bias" module 1 2:4:13-4:17 f32[4] zeros key "a.bias" checkpoint "a.bias" compute f32 reduce f32 frozen
param 2 "b.weight" module 2 2:3:3-3:9 f32[4, 4] normal(0.02) key "b.weight" checkpoint "b.weight" compute f32 reduce f32
param 3 "b.bias" module 2 2:4:13-4:17 f32[4] zeros key "b.bias" checkpoint "b.bias" compute f32 reduce f32 lr 1 decay 0
  "a.bias"         = frozen                   # m.fsd:8
  "*.bias"         = group(weight_decay = 0)  # m.fsd:8
  "a.*"            = group(lr = 0.1)          # m.fsd:8

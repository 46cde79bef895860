# RUN: for c in "" "index = 2"; do sed "s/CONFIG/$c/" %s > n.fsd; %fsdpc dump --stage=model n.fsd | grep '^param.*layers' | sed 's/ @.*//'; done
# `index` in the arguments of an array is the element's place, and `else` has the fields of the others; a name of the file goes first.
==== m.fsd
config { D = 6; V = 11; CONFIG }
module Layer(wide) {
  if wide { fc : Linear(D, D, bias = true) } else { fc : Linear(D, D) }
  forward(x) = fc(x)
}
module Net {
  emb : Embedding(V, D)
  layers : Layer(index >= 1)[3]
  forward(ids) {
    x = emb(ids)
    for layer in layers { x = layer(x) }
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
param 1 "layers.0.fc.weight" module 4 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.0.fc.weight" checkpoint "layers.0.fc.weight" compute f32 reduce f32
param 2 "layers.1.fc.weight" module 6 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.1.fc.weight" checkpoint "layers.1.fc.weight" compute f32 reduce f32
param 3 "layers.1.fc.bias" module 6 2:4:13-4:17 f32[6] zeros key "layers.1.fc.bias" checkpoint "layers.1.fc.bias" compute f32 reduce f32
param 4 "layers.2.fc.weight" module 8 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.2.fc.weight" checkpoint "layers.2.fc.weight" compute f32 reduce f32
param 5 "layers.2.fc.bias" module 8 2:4:13-4:17 f32[6] zeros key "layers.2.fc.bias" checkpoint "layers.2.fc.bias" compute f32 reduce f32
param 1 "layers.0.fc.weight" module 4 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.0.fc.weight" checkpoint "layers.0.fc.weight" compute f32 reduce f32
param 2 "layers.0.fc.bias" module 4 2:4:13-4:17 f32[6] zeros key "layers.0.fc.bias" checkpoint "layers.0.fc.bias" compute f32 reduce f32
param 3 "layers.1.fc.weight" module 6 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.1.fc.weight" checkpoint "layers.1.fc.weight" compute f32 reduce f32
param 4 "layers.1.fc.bias" module 6 2:4:13-4:17 f32[6] zeros key "layers.1.fc.bias" checkpoint "layers.1.fc.bias" compute f32 reduce f32
param 5 "layers.2.fc.weight" module 8 2:3:3-3:9 f32[6, 6] normal(0.02) key "layers.2.fc.weight" checkpoint "layers.2.fc.weight" compute f32 reduce f32
param 6 "layers.2.fc.bias" module 8 2:4:13-4:17 f32[6] zeros key "layers.2.fc.bias" checkpoint "layers.2.fc.bias" compute f32 reduce f32

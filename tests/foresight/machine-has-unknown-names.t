# RUN: %fsdpc fit --machine m.machine net.fsd
# All faults are reported, each with its path and the nearest name.
==== m.machine
{"format": 1, "devise": {}, "device": {"memory_byte": {"value": -1, "from": ""}, "cores": 4, "launch_s": {"value": -1, "from": ""}}}
==== net.fsd
module Layer {
  fc : Linear(32, 64)
  out : Linear(64, 32)
  forward(x) = x + out(gelu(fc(x)))
}
module Net {
  emb : Embedding(256, 32)
  layer : Layer[4]
  head : Linear(32, 256)
  forward(ids) {
    x = emb(ids)
    for l in layer { x = l(x) }
    return head(x)
  }
}
model = Net
data  { train = text("a.txt"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 5; optimizer = adamw(lr = 0.1) }
shard { mesh = (dp = 2); unit = Layer }
==== err
error[E0514]: m.machine: there is no `devise` here
  = help: did you mean `device`?

error[E0514]: m.machine: device: there is no `memory_byte` here
  = help: did you mean `memory_bytes`?

error[E0514]: m.machine: device.cores: an object is expected

error[E0514]: m.machine: device.launch_s.value: a number from 0 to 1e+18 is expected

error[E0514]: m.machine: device.launch_s.from: a text that says where the value comes from is expected
  = help: for example "data sheet", "assumed" or "measured, 32 points, 3.1 %"

==== exit 3

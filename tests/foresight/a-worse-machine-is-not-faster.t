# RUN: %fsdpc compile -q net.fsd -s train.batch=512 -n 1 -o p; %python %root/tests/foresight/monotone.py %fsdpc %root/machines/h100-80.machine %root/machines/a100-40.machine slow.machine p
# Where nothing is shared, a step gets no faster when a constant of the machine gets worse.
# TIME: 90
==== slow.machine
{"format": 1, "kind": "cpu", "device": {"cores": {"value": 1, "from": "data sheet"}, "launch_s": {"value": 0.001, "from": "measured, 9 points"}},
 "products": {"f32": {"flops_s": {"value": 1e8, "from": "fitted"}, "peak_flops_s": {"value": 2e8, "from": "data sheet"}, "start_s": {"value": 0, "from": "assumed"}}},
 "ops": {"elements": {"bytes_s": {"value": 1e9, "from": "measured"}}, "rows": {"bytes_s": {"value": 1e9, "from": "measured"}},
         "scattered": {"bytes_s": {"value": 1e9, "from": "measured"}}, "update": {"bytes_s": {"value": 1e9, "from": "measured"}}},
 "links": [{"ranks": 2, "start_s": {"value": 0.001, "from": "measured"}, "bytes_s": {"value": 1e7, "from": "measured"}}],
 "disk": {"write_bytes_s": {"value": 2e5, "from": "assumed"}}}
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
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 500; optimizer = adamw(lr = 0.1) }
shard { unit = Layer }
==== out
h100-80.machine: no constant that is worse makes the step faster; some make it slower
a100-40.machine: no constant that is worse makes the step faster; some make it slower
slow.machine: no constant that is worse makes the step faster; some make it slower

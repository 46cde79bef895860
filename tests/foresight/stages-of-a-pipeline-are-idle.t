# RUN: for k in 1 2 8; do %fsdpc dump --machine slow.machine net.fsd -s train.accumulate=$k -s train.batch=16 | tail -n 1; done
# With more micro-batches, the stages of a pipeline wait for each other for a smaller part of the step.
==== slow.machine
{"format": 1, "kind": "cpu", "device": {"cores": {"value": 1, "from": "data sheet"}, "launch_s": {"value": 0.001, "from": "measured, 9 points"}},
 "products": {"f32": {"flops_s": {"value": 1e8, "from": "fitted"}, "peak_flops_s": {"value": 2e8, "from": "data sheet"}, "start_s": {"value": 0, "from": "assumed"}}},
 "ops": {"elements": {"bytes_s": {"value": 1e9, "from": "measured"}}, "rows": {"bytes_s": {"value": 1e9, "from": "measured"}},
         "scattered": {"bytes_s": {"value": 1e9, "from": "measured"}}, "update": {"bytes_s": {"value": 1e9, "from": "measured"}}},
 "links": [{"ranks": 2, "start_s": {"value": 0.001, "from": "measured"}, "bytes_s": {"value": 1e7, "from": "measured"}}]}
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
shard { mesh = (pp = 2); unit = Layer }
==== out
step 427 ms, MFU 22 %, 2.1 ms exposed, stages idle 50 %; 500 steps 4 min, 0.12 device-hours; 15 % of it measured, 85 % fitted
step 338 ms, MFU 28 %, 2.1 ms exposed, stages idle 33 %; 500 steps 3 min, 0.094 device-hours; 21 % of it measured, 79 % fitted
step 373 ms, MFU 25 %, 2.1 ms exposed, stages idle 20 %, with --overlap on 375 ms; 500 steps 3 min, 0.1 device-hours; 46 % of it measured, 54 % fitted

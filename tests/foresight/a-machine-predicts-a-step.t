# RUN: %fsdpc compile --machine slow.machine net.fsd -o p 2>&1 | tail -n 2; %fsdpc dump --machine slow.machine p | tail -n 2
# RUN: %fsdpc dump --machine slow.machine --format=json p | %python -c 'import json, sys; p = json.load(sys.stdin)["predicted"]; f = p.pop("from"); [print(k, f"{v:.4g}" if type(v) is float else v) for q in (p, f) for k, v in q.items()]'
# RUN: %fsdpc compile -q --machine slow.machine net.fsd -o q && cmp p q; %fsdpc dump --format=json p | grep '"predicted"' || echo none
# With --machine, compile and dump say how long a step takes, and where that comes from; the plan is the same.
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
shard { mesh = (dp = 2); unit = Layer }
==== out
step 273 ms, MFU 35 %, 48.8 ms exposed; 500 steps 2 min, 0.076 device-hours; 31 % of it measured, 69 % fitted
the step after a checkpoint waits 711 ms for it
step 273 ms, MFU 35 %, 48.8 ms exposed; 500 steps 2 min, 0.076 device-hours; 31 % of it measured, 69 % fitted
the step after a checkpoint waits 711 ms for it
step_ms 272.9
overlap_step_ms 272.9
auto off
exposed_ms 48.84
idle None
tokens_per_s 938.1
mfu 0.3458
checkpoint_ms 711.4
measured 0.3084
fitted 0.6916
none

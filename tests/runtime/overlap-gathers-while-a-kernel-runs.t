# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && for o in off on; do TARDY="sleep 1 6 3 copy 1 1 7" %t/bin/fsdp-run --threads 1 -q --steps 1 --overlap $o --profile trace.$o p && %python beside.py $o; done
# RUN: TARDY="work 1 6 4" FSDP_TIMEOUT=1 %t/bin/fsdp-run --threads 1 -q --overlap on p
# With --overlap a rank's gathers go on while a kernel takes long, which --profile shows; it is not taken for dead meanwhile.
# TIME: 200
# NEEDS: build:device_cpu.so
==== beside.py
import json, sys
spans = [e for e in json.load(open("trace." + sys.argv[1]))["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
long = max((e for e in spans if e["tid"] == 0), key=lambda e: e["dur"])
beside = [e["name"] for e in spans if e is not long and e["ts"] < long["ts"] + long["dur"] and e["ts"] + e["dur"] > long["ts"]]
print(sys.argv[1] + ":", long["name"], "beside", " ".join(beside) or "nothing")
==== toy.fsd
module Toy {
  emb : Embedding(128, 12)
  fc : Linear(12, 12)[3]
  out : Linear(12, 128)
  forward(x) {
    x = emb(x)
    for l in fc { x = relu(l(x)) }
    return out(x)
  }
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0 }
shard { unit = Linear }
==== out
off: linear beside nothing
on: linear beside unshard

# RUN: seq 99 > a.txt && %fsdpc compile -q -n 2 tiny.fsd -o p.bin && %fsdp-run --quiet --log l p.bin && %fsdpc dump --format=json p.bin > j && %python -c 'import json; p = json.load(open("j"))["predicted_peak_bytes"]; print(p["cpu"] == json.loads(open("l").readline())["arena_bytes"], 0 < p["categories"]["workspace_cpu"] < p["cpu"] - p["arena"] + 1, p["lower_bound"] <= p["arena"])'
# The peak of a device is what fsdp-run allocates there: the arena and the workspace, once each.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
True True True

# RUN: %fsdpc dump --format=json -n 2 tiny.fsd | %python -c 'import json, sys; p = json.load(sys.stdin)["predicted_peak_bytes"]; c = p["categories"]; print(sum(v for k, v in c.items() if k[:4] != "work") == p["arena"], (p["arena"] + 255) // 256 * 256 + c["workspace_cpu"] == p["cpu"], p["lower_bound"] <= p["arena"], c["parameters"])'
# The categories of the peak are the arena, each byte once.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
True True True 4096

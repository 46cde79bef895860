# RUN: for m in reals tokens; do %fsdpc compile -q $m.fsd -o p && %fsdp-run --quiet --threads 1 --steps 1 --log l p && grep -o '"loss": *[0-9.]\{6\}' l; done
# The samples of a seed are the same in every version: a resumed run continues with the same data.
# NEEDS: build:device_cpu.so
==== reals.fsd
module Net {
  fc : Linear(6, 5, init = normal(1))
  forward(x: [B, 3, 2]) = fc(x as [B, 6])
}
model = Net
data { train = synthetic(x = [3, 2], y = 5, samples = 16) }
train { loss = cross_entropy(model(x), y); batch = 8; steps = 2 }
==== tokens.fsd
module Net {
  emb : Embedding(16, 16, init = normal(1))
  forward(x) = emb(x)
}
model = Net
data { train = synthetic_tokens(16); length = 20 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2 }
==== out
"loss":3.0037
"loss":2.9803

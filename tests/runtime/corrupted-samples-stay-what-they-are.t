# RUN: for l in "cross_entropy(model(source), source)" "cross_entropy(model(target), labels)"; do %fsdpc compile -q net.fsd -o p -s "train.loss=$l" && %fsdp-run --quiet --threads 1 --steps 1 --log l p && grep -o '"loss": *[0-9.]\{6\}' l; done
# RUN: for l in "cross_entropy(model(inputs), inputs)" "cross_entropy(model(inputs), labels)"; do %fsdpc compile -q net.fsd -o p -s 'data.train=mlm(synthetic_tokens(64), mask = 63)' -s "train.loss=$l" && %fsdp-run --quiet --threads 1 --steps 1 --log l p && grep -o '"loss": *[0-9.]\{6\}' l; done
# What is hidden of a sample, and what stands there instead, is the same in every version.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(64, 64, init = normal(1))
  forward(x) = emb(x)
}
model = Net
data { train = span_corruption(synthetic_tokens(60), rate = 0.3, span = 3, mark = 63); length = 64 }
train { loss = cross_entropy(model(source), source); batch = 8; steps = 2 }
==== out
"loss":4.4227
"loss":4.8685
"loss":4.5529
"loss":4.6317

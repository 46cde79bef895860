# RUN: %fsdpc machine --plan -n 2 -o m && ls m; for v in f32 bf16; do %fsdpc dump --raw m/$v.bin | %python %root/tests/foresight/traced.py 2 >$v.json; done
# RUN: %fsdpc machine --fit f32.json bf16.json --threads 1 -o here.machine 2>said; sed 's/[0-9]* shapes/N shapes/; s/of [0-9]* that/of M that/; s/\b[0-9]\.[0-9] %/under 10 %/g' said
# RUN: %python -c 'import json; m = json.load(open("here.machine")); near = lambda is_, should: print("right" if abs(is_["value"] / should - 1) < 0.04 else (is_, should)); near(m["products"]["f32"]["flops_s"], 41e9); near(m["products"]["bf16"]["flops_s"], 41e9); near(m["links"][0]["bytes_s"], 4e9); near(m["ops"]["rows"]["bytes_s"], 8e9); near(m["device"]["launch_s"], 2e-6)'
# RUN: %fsdpc compile --machine here.machine net.fsd -o p 2>&1 | sed -n 's/^step .*of it measured.*/predicted/p'
# Of a machine with known constants, the traces of measuring plans give these constants, in a file that --machine takes.
# TIME: 90
# NEEDS: sanitizer:none
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
bf16.bin
f32.bin
offload.bin
here.machine: N shapes, mean error under 10 %; of M that were held back under 10 %
right
right
right
right
right
predicted

# RUN: %fsdpc compile -q %s -o %t/plan.bin && %fsdpc check %t/plan.bin
# RUN: %fsdpc dump --stage=schedule %s | sed -n '/^program eval/,$d; s/.*= \(retain\|unshard\|reshard\|layer_norm\)(.* unit .* \("[^"]*"\).*/\1 \2/p'
# A unit that is gathered again in forward, from the part that its ranks retain, is not gathered before that is kept.
==== net.fsd
module M {
  w : param[16] = ones @frozen
  forward(x) = layer_norm(x, w)
}
module Net {
  e : Embedding(3, 16)
  o : M[2]
  forward(ids: [B, T]) {
    y = e(ids)
    for l in o { y = l(y) }
    return linear(y, e.weight)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 3); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 3 }
shard { mesh = (dp = 4); unit = size(10); reshard = 2; replicate_below = 16 }
==== out
unshard "e"
retain "e"
unshard "e"
reshard "e"
layer_norm "o.0"
layer_norm "o.1"
reshard "e"
unshard "e"
reshard "e"
==== err
note[W0405]: used several times, gathered each time: e


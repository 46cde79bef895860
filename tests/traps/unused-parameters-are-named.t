# RUN: %fsdpc compile -n 2 net.fsd -o p 2>&1 | grep ^error; exit ${PIPESTATUS[0]}
# A parameter that no loss reads trains nothing in silence elsewhere; here it is an error.
==== net.fsd
module Attn { w : param[4, 4] = normal(0.5); bias : param[4] = zeros; forward(x) = linear(x, w) }
module Block { attn : Attn; forward(x) = x + attn(x) }
module Net { e : Embedding(4, 4); h : Block[4]
  forward(ids: [B, S]) { x = e(ids)
    for b in h { x = b(x) }
    return x } }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
error[E0420]: h.0.attn.bias gets no gradient; mark it @frozen or use it
error[E0420]: h.1.attn.bias gets no gradient; mark it @frozen or use it
error[E0420]: h.2.attn.bias gets no gradient; mark it @frozen or use it
error[E0420]: h.3.attn.bias gets no gradient; mark it @frozen or use it
==== exit 1

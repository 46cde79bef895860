# RUN: %fsdpc compile -q %s -o %t/again.bin && %fsdp-run -q --threads 1 --save %t/again %t/again.bin
# RUN: %fsdpc compile -q -s shard.recompute=none %s -o %t/kept.bin && %fsdp-run -q --threads 1 --save %t/kept %t/kept.bin
# RUN: cmp %t/again %t/kept
# Along cp backward gathers positions of the embedding again, a sum over tp that is complete by then; what it computes again reads terms of that sum, as forward did.
==== net.fsd
module Expert {
  a : Linear(6, 5)
  b : Linear(5, 6)
  forward(x) = b(silu(a(x)))
}
module Layer {
  route : Linear(6, 2)
  experts : Expert[2]
  forward(x: [B, T, 6]) {
    p, i = topk(softmax(route(x)), 1)
    return x + combine(experts(dispatch(x, i)), i, p)
  }
}
module Two {
  l : Layer[2]
  forward(x) {
    for layer in l { x = layer(x) }
    return x / (1 + mean(abs(x), axis = -1))
  }
}
module Net {
  e : Embedding(5, 6)
  two : Two
  forward(ids: [B, T]) = linear(two(e(ids)), e.weight)
}
model = Net
data  { train = synthetic_tokens(vocab = 5); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 2 }
shard { mesh = (cp = 3, tp = 2); recompute = (Two) }
==== out

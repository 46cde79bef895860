# RUN: seq 300 > t.txt; for n in 2 3; do %fsdpc compile -q net.fsd -o p -n $n -s train.accumulate=2 -s train.precision=bf16 && for o in off on; do %fsdp-run -q --overlap $o --threads 1 --save %t/$o --dump-grads 3=%t/$o.grads p || exit; done; cmp %t/off %t/on && cmp %t/off.grads %t/on.grads && echo same; done
# Streams on threads of their own, beside the computation, change no bit of weights or gradients.
# NEEDS: build:device_cpu.so
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[3]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 12; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
same
same

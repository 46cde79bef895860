# RUN: seq 300 > t.txt; for n in 2 3; do %fsdpc compile -q net.fsd -o p -n $n -s train.accumulate=2 -s train.precision=bf16 && for o in off on; do %fsdp-run -q --overlap $o --threads 1 --save %t/$o --dump-grads 3=%t/$o.grads p || exit; done; cmp %t/off %t/on && cmp %t/off.grads %t/on.grads && echo same; done
# RUN: %fsdpc compile -q net.fsd -o p -n 2 -s train.accumulate=3 && %fsdp-run -q --threads 1 --overlap off --save a p && for seed in 1 2 3 4; do FSDP_TEST_STREAMS=$seed %fsdp-run -q --threads 1 --save b p && cmp a b && echo same; done
# Streams on threads of their own, beside the computation or in random order with slow collectives, change no bit of
# weights or gradients.
# NEEDS: build:device_cpu.so
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[2]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 6; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
same
same
same
same
same
same

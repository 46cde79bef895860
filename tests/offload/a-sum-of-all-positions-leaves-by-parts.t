# RUN: for o in none '(grads = cpu)'; do %fsdpc compile -q -s "shard.offload=$o" net.fsd -o p 2>note && %fsdp-run --quiet --save "w$((k++))" p || exit; done; cmp w0 w1 && echo the same weights
# Where a gradient is whole along cp and micro-batches add up in it (accumulate = local), host memory keeps all of it, and the update reads the rank's part.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  e : Embedding(7, 4)
  p : param[6, 4] = normal(0.5)
  h : Linear(4, 7)
  forward(ids: [B, T]) = h(silu(e(ids) + p))
}
model = Net
data { train = synthetic_tokens(vocab = 7); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 3; accumulate = 3; optimizer = adamw(lr = 0.1) }
shard { mesh = (dp = 1, cp = 2); accumulate = local }
==== out
the same weights

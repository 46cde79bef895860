# RUN: for n in 1 3 4 6 8; do for l in flat param; do %fsdpc compile -q -n $n -s shard.layout=$l net.fsd -o p && %fsdp-run -q --threads 1 --save a.safetensors p && %fsdpc compile -q -n $n -s shard.layout=$l -s train.optimizer='lion(lr = 1e-3)' -s train.precision=bf16 net.fsd -o p && %fsdp-run -q --threads 1 --load a.safetensors --save b.safetensors p; cat a.safetensors b.safetensors | md5sum; done | uniq | wc -l; done
# Rows that are fewer than the ranks, or no multiple of them: trained, saved and loaded weights have the bits of flat ones,
# with Adafactor and, in bf16, with Lion.
# NEEDS: build:device_cpu.so
==== net.fsd
module Two {
  c : param[1, 2] = normal(1)
  d : param[3, 2] = normal(1)
  f : param[2, 3] = normal(1)
  forward(x) = linear(relu(linear(x, d)), f) * c
}
module Net {
  e : Embedding(5, 2)
  n : RMSNorm(2)
  two : Two
  o : Linear(2, 5, bias = true)
  forward(ids) = o(two(n(e(ids))))
}
model = Net
data  { train = synthetic_tokens(vocab = 5); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 4; clip = 0.3; optimizer = adafactor(lr = 0.1) }
shard { unit = Two }
==== out
1
1
1
1
1

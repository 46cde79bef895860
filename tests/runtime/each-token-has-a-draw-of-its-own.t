# RUN: %fsdpc compile -q toy.fsd -o p && %fsdp-run -q --steps 0 --save w p && for a in 7 "7,0,9" "7 --seed 1"; do %fsdp-run -q --threads 1 --load w --tokens 12 --temperature 1 --generate $a p; done
# Where all logits are equal the text shows the random numbers: that of a token is of its place behind the
# prompt and of the seed.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(100, 4, init = zeros)
  forward(x) = linear(emb(x), emb.weight)
}
model = Toy
data { train = synthetic_tokens(100); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
7 39 97 1 78 93 45 71 65 24 58 84 62
7 0 9 39 97 1 78 93 45 71 65 24 58 84 62
7 89 67 24 75 24 16 44 48 85 21 27 61

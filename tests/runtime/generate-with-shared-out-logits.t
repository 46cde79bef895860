# RUN: for mesh in dp=1 tp=2 tp=3 cp=2 cp=2,tp=3 dp=2,cp=4 zigzag=2,tp=3; do %fsdpc compile -q toy.fsd --mesh $mesh -o p || exit; [ -e w ] || %fsdp-run -q --threads 1 --save w p; for heat in 0 1 5; do %fsdp-run -q --threads 1 --load w --tokens 20 --temperature $heat --generate 7,1 p; done; done | sort | uniq -c
# Where ranks share out logits, by positions or by ids, 29 of which are not divisible, they choose the
# tokens that one rank chooses: the likeliest ones, and the same draws.
# NEEDS: build:device_cpu.so
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(29, 12)
  pos : Embedding(8, 12)
  out : Linear(12, 29)
  forward(x: [B, T]) = 9 * out(sin(60 * (emb(x) + pos(iota(T)))))
}
model = Toy
data { train = synthetic_tokens(29); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = sgd(lr = 1.0) }
==== out
      7 7 1 11 15 3 3 21 24 12 13 23 21 15 6 25 18 12 10 24 12 7 7
      7 7 1 11 24 0 21 22 12 19 19 9 14 28 19 18 15 0 17 7 9 0 17
      7 7 1 11 9 6 11 21 24 12 7 7 7 7 7 7 7 7 7 7 7 7 7

# RUN: for mesh in dp=1 tp=2 tp=3 cp=2 cp=2,tp=3 dp=2,cp=4; do %fsdpc compile -q toy.fsd --mesh $mesh -o p || exit; [ -e w ] || %fsdp-run -q --threads 1 --save w p; for heat in 0 1 5; do %fsdp-run -q --threads 1 --load w --tokens 20 --temperature $heat --generate 7,1 p; done; done | sort | uniq -c
# Where ranks share out logits, by positions or by ids, 29 of which are not divisible, they choose the
# tokens that one rank chooses: the likeliest ones, and the same draws.
# NEEDS: build:device_cpu.so
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(29, 12)
  pos : Embedding(8, 12)
  out : Linear(12, 29)
  forward(x: [B, T]) = out(softmax(emb(x) + pos(iota(T))))
}
model = Toy
data { train = synthetic_tokens(29); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = sgd(lr = 1.0) }
==== out
     12 7 1 11 28 0 22 27 13 20 19 7 17 24 18 18 10 0 18 16 12 3 18
      6 7 1 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21 21

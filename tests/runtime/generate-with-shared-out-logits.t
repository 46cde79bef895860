# RUN: export FSDP_CPU_ISA=plain FSDP_CPU_MATMUL=plain; for mesh in dp=1 tp=2 tp=3 cp=2 cp=2,tp=3 dp=2,cp=4 zigzag=2,tp=3; do %fsdpc compile -q toy.fsd --mesh $mesh -o p || exit; [ -e w ] || %fsdp-run -q --threads 1 --save w p; for heat in 0 1 5; do %fsdp-run -q --threads 1 --load w --tokens 20 --temperature $heat --generate 7,1 p; done; done | sort | uniq -c
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
      7 7 1 20 28 4 24 6 5 18 6 6 9 21 15 16 13 1 12 15 16 4 21
      7 7 1 21 11 14 18 21 5 18 6 6 6 6 6 6 6 6 6 6 6 6 6
      7 7 1 21 11 14 18 21 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5

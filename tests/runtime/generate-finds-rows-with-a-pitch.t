# RUN: for d in f32 bf16 f16; do %fsdpc compile -q -s train.precision=$d toy.fsd -o p; [ -e w ] || %fsdp-run -q --steps 0 --save w p; %fsdp-run -q --load w --generate "1 2 3" --tokens 8 p; done
# Rows of 37 logits lie 40 apart in bf16 and f16: the likeliest tokens are the same as in f32.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(37, 8)
  out : Linear(8, 37, init = normal(1))
  forward(x) = out(emb(x))
}
model = Toy
data { train = synthetic_tokens(37); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1; optimizer = adamw(lr = 0.1) }
==== out
1 2 3 19 7 12 32 11 2 7 12
1 2 3 19 7 12 32 11 2 7 12
1 2 3 19 7 12 32 11 2 7 12

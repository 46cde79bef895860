# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin && %fsdp-run --quiet p.bin
# A warm-up that is longer than the epochs of the given data is an error.
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; epochs = 2; optimizer = sgd(lr = 0.1)
        schedule = cosine(warmup = 300) }
==== err
error: train.schedule: warmup = 300 is longer than the 73 steps of 2 epochs
==== exit 1

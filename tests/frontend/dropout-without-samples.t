# RUN: for how in "" "-n 2" "-s train.accumulate=2"; do %fsdpc compile -q $how m.fsd -o p && %fsdp-run -q --threads 1 --log l p; grep -o '"loss":[^,]*' l | sort -u >> losses; done; sort -u losses | wc -l
# Dropout of a value without samples drops the same elements on all ranks and in all micro-batches.
# NEEDS: build:device_cpu.so
==== m.fsd
module Net {
  e   : Embedding(5, 8)
  pos : Embedding(6, 8)
  h   : Linear(8, 5)
  forward(x: [B, T]) = h(e(x) + dropout(pos(iota(T)), 0.5))
}
model = Net
data { train = synthetic_tokens(vocab = 5); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 1) }
==== out
1

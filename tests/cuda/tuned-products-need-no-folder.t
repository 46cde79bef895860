# RUN: seq 300 > t.txt; %python %root/tests/cuda/tuned.py %fsdpc %fsdp-run %build %t net.fsd nowhere
# If nothing can be written next to the plan, products are still tuned, and a note says so.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  a : Linear(24, 40, bias = true)
  out : Linear(40, 128)
  forward(x) = out(relu(a(emb(x))))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 4; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
nothing is written where nothing is tuned
tuned all the same
one note

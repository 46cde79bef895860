# RUN: seq 300 > t.txt; %python %root/tests/cuda/tuned.py %fsdpc %fsdp-run %build %t net.fsd bad
# An algorithm that crashes, accesses what it may not, or hangs ends another process, and the run goes on without it.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 4; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
nothing is written where nothing is tuned
another algorithm than the first, no note
every product has the fastest
an algorithm that crashes: the bits of the first algorithm
... a note about each product
... and a line of the file
... which the next run believes
one with an illegal access: the bits of the first algorithm
... a note about each product
... and a line of the file
... which the next run believes
one that hangs: the bits of the first algorithm
... a note about each product
... and a line of the file
... which the next run believes
again: they are tried again
no room to try any: the first algorithm, and two notes
... and the next run tries

# RUN: seq 300 > t.txt; %python %root/tests/cuda/tuned.py %fsdpc %fsdp-run %build %t net.fsd believed
# A run follows the file of tuned products unless it is told to tune again.
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
another algorithm than the first, no note
every product has the fastest
what the file says is done
again: it is not
again: it is written anew
an algorithm that the library does not know is not run, as a note says
... and found anew by the next run

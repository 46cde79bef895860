# RUN: seq 300 > t.txt; %python %root/tests/cuda/tuned.py %fsdpc %fsdp-run %build %t net.fsd epilogues
# A product with an epilogue that took longer than the plain one and a part of its own is not used.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so sanitizer:none
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  a, b : Linear(24, 24, bias = true)
  out : Linear(24, 128)
  forward(x) = out(b(gelu(a(emb(x)), approx = tanh)))
}
model = Net
data { train = text("t.txt"); length = 9 }
train { loss = cross_entropy(model(inputs), targets); batch = 32; steps = 4; optimizer = adamw(lr = 0.01); eval_every = none; precision = bf16(master = f32) }
==== out
nothing is written where nothing is tuned
another algorithm than the first, no note
every product has the fastest
gelu in a part of its own where the epilogue is slow
gelu in the epilogue where that is fast
gelu's slope in a part of its own where the epilogue is slow
gelu's slope in the epilogue where that is fast
a bias's sum in a part of its own where the epilogue is slow
a bias's sum in the epilogue where that is fast
every product with an epilogue has both times
gelu in a part of its own where the epilogue takes longer
gelu in a part of its own where there is no epilogue
gelu's slope in a part of its own where the epilogue takes longer
gelu's slope in a part of its own where there is no epilogue
a bias's sum in a part of its own where the epilogue takes longer
a bias's sum in a part of its own where there is no epilogue
a bias in front of the product where there is no epilogue
the epilogues where they are as fast

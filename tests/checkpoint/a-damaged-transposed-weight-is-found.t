# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p && %fsdp-run -q --threads 1 --steps 0 --checkpoint ck p && printf x | dd of=ck/step-00000000/model.safetensors bs=1 seek=3157728 conv=notrunc 2> /dev/null; %fsdpc check ck
# In a file with a transposed weight, damage is reported where elements that were hashed together are, far apart.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 16)
  out : Linear(16, 131072)
  forward(x) = out(emb(x))
}
model = Net
names hf { "out.*" = "out.*^T"; "*" = "*" }
data { train = text("t.txt"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 1; steps = 1; optimizer = sgd(lr = 0.01) }
checkpoint { form = full }
==== err
error[E0512]: ck/step-00000000/model.safetensors: tensor out.weight: some of bytes 12288 to 8400895 are damaged: checksum mismatch
  = help: no earlier checkpoint is intact

==== exit 3

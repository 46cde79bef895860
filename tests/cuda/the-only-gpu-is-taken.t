# RUN: cp %fsdp-run %build/device_cpu.so %t && cp %build/tests/modules/device_cuda_emulated.so %t/device_cuda.so && seq 300 >t.txt && %fsdpc compile -q net.fsd -o %t/plan.bin -n 1 && for n in 0 1 3; do FSDP_EMULATE_GPUS=$n %t/fsdp-run --device cuda %t/plan.bin 2>&1 | grep -v "tokens\|FLOP\|^loss"; done
# A process with one rank runs on the first of three GPUs as on the only one; without a GPU it reports that.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
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
error: device cuda: no GPU is visible; nvidia-smi lists the GPUs; without one use --device cpu
device cuda, transport local, 1 rank of 2 threads
steps           4
last loss       4.83242
best eval loss  -
arena bytes     33679104 predicted, 33679104 allocated a rank
device bytes    288 for context and libraries besides the arena
device cuda, transport local, 1 rank of 2 threads
steps           4
last loss       4.83242
best eval loss  -
arena bytes     33679104 predicted, 33679104 allocated a rank
device bytes    288 for context and libraries besides the arena

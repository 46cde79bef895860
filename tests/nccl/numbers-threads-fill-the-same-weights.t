# RUN: seq 300 >t.txt; %fsdpc compile -q %s -o p.bin; run() { FSDP_EMULATE_GPUS=1 FSDP_CUDA_TUNE=0 %build/emulated/run/fsdp-run --quiet --steps 0 --save $1.st --device $2 --threads $3 p.bin; }; run cpu cpu 1; for n in 1 3 7; do run gpu$n cuda $n; cmp cpu.st gpu$n.st && echo "$n: the same weights"; FSDP_EMULATE_GPUS=1 FSDP_CUDA_TUNE=0 %build/emulated/run/fsdp-run --quiet --steps 0 --load cpu.st --save loaded.st --device cuda --threads $n p.bin; cmp cpu.st loaded.st && echo "$n: loaded"; done
# Start weights of a GPU, made or read by any number of threads, are those of the cpu device.
# NEEDS: build:emulated/run/device_cuda.so
# TIME: 60
==== net.fsd
module Net {
  emb : Embedding(128, 530)
  out : Linear(530, 700, bias = true)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.01); eval_every = none }
shard { mesh = (dp = 2); unit = root }
==== out
1: the same weights
1: loaded
3: the same weights
3: loaded
7: the same weights
7: loaded

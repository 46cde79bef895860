# RUN: for n in 1 2 3 4; do %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n $n --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias %root/tests/optimizers/net.fsd 'adafactor(lr = 0.9, d = 0.5, weight_decay = 0.1)' 'train.schedule=rsqrt(warmup = 2)'; done
# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 3 --limit 0.5 %root/tests/optimizers/experts.fsd 'adafactor(lr = 1e-2)' train.clip=0.5
# RUN: for p in 3 inf; do %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 2 --limit 0.99 rows.fsd 'adafactor(lr = 1e-2)' train.clip=0.99 train.clip_norm=$p; done
# RUN: %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n 3 --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias --group '*.a.*:3e-3:' --group 'out.*:1e-4:0.5' --group 'h.1.*::0' %root/tests/optimizers/groups.fsd 'adafactor(lr = 1e-2, weight_decay = 0.2)'
# Adafactor makes the steps of PyTorch's, of matrices, of three axes, in groups and whatever norm clips; the largest error measured is 9e-9 of a step.
# NEEDS: build:device_cpu.so
==== rows.fsd
module Net {
  emb : Embedding(3, 512)
  out : Linear(512, 3)
  forward(x) = out(emb(x) * 0 + 30)
}
model = Net
data { train = synthetic_tokens(vocab = 3); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
adafactor on 1 ranks: 4 steps as published
adafactor on 2 ranks: 4 steps as published
adafactor on 3 ranks: 4 steps as published
adafactor on 4 ranks: 4 steps as published
adafactor on 3 ranks: 4 steps as published
adafactor on 2 ranks: 2 steps as published
adafactor on 2 ranks: 2 steps as published
adafactor on 3 ranks: 4 steps as published

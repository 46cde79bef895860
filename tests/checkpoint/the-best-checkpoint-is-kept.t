# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p -s 'train.optimizer=adamw(lr = 0.4)'; %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 2 --keep 1 --keep-best --log log p; ls ck; grep -o '"event":"eval".*' log | sed 's/\.[0-9]*.*//'
# The checkpoint with the least evaluation loss stays beside the newest one.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 12)
  fc  : Linear(12, 20, bias = true)
  out : Linear(20, 128)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 8; optimizer = adamw(lr = 0.01); eval_every = 2 }
shard { unit = Linear }
==== out
lock
step-00000006
step-00000008
"event":"eval","step":2,"loss":6
"event":"eval","step":4,"loss":3
"event":"eval","step":6,"loss":3
"event":"eval","step":8,"loss":3

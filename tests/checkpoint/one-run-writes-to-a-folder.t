# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p -s train.steps=100000000; %fsdp-run -q --threads 1 --checkpoint ck --log log p & first=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; %fsdp-run --checkpoint ck p 2>&1 | sed 's/: process .*/: who/'; kill $first; wait $first; echo "exit $?"; ls ck | sed 's/-.*//'
# The second run is told who writes there; the first one ends with a checkpoint.
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
error: another run writes checkpoints to ck: who
help: one run at a time; name another folder, or end that one
exit 130
lock
step

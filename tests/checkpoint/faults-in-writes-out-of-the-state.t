# RUN: seq 300 > t.txt; %fsdpc compile -q wide.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p && for how in short interrupted killed; do python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w $how 13; done
# Writes that are cut short or interrupted, or a kill, harm no checkpoint where files are written from the memory of the
# state and from a buffer by turns either.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== wide.fsd
module Wide {
  emb : Embedding(128, 4000)
  out : Linear(4000, 128)
  forward(x) = out(emb(x))
}
model = Wide
data { train = text("t.txt"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 7; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
==== out
short: exit 0
interrupted: exit 0, exit 2
killed: killed

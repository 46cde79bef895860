# RUN: seq 300 > t.txt; for n in 12 24; do %fsdpc compile -q net.fsd -o p -n 2 -s train.steps=$n && LD_PRELOAD=%build/tests/modules/allocations.so %fsdp-run --threads 1 --log log p 2>&1 > /dev/null | grep requests > $n; done; cat 12 24 | awk '{d = $1 - n; n = $1} END {if (n > 100 && d * d < 9) print "as often"; else print NR, n, d}'; grep -c eval log
# A run of twice as many steps, with their evaluations and log lines, requests memory just as often: twelve steps more would be
# seen twelve times. The start of a run takes one request more at times.
# NEEDS: build:device_cpu.so build:tests/modules/allocations.so sanitizer:none
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[2]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 6; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
as often
12

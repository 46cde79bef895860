# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -o p -n 2 -s train.accumulate=3; %fsdpc dump --stage=sched net.fsd -n 2 -s train.accumulate=3 | awk '/ wait\(/ { e = $0; sub(/.* wait\(/, "", e); sub(/\).*/, "", e); for (k = split(e, x, ","); k; k--) print /\[gather\]/ ? "ahead" : "data" }' > kinds
# RUN: n=$(FSDP_TEST_STREAMS=1 FSDP_TEST_DROP_EDGE=4000000 %fsdp-run --quiet p 2>&1 | grep -o '[0-9]* edges' | cut -d' ' -f1); [ $n = $(wc -l < kinds) ]; mapfile -t kind < kinds; for ((e = 0; e < n; e++)); do FSDP_TEST_STREAMS=1 FSDP_TEST_DROP_EDGE=$e %fsdp-run --quiet --threads 1 --steps 2 p 2> err; s=$?; [ $s = 3 ] && grep -q race: err || [ ${kind[$e]} = ahead -a $s = 0 ] || echo "edge $e is not missed"; done; [ $e -gt 20 ] && echo tried all
# Except for edges that only keep a gather from running further ahead than prefetch says, no edge is redundant: without any
# one of them an instruction starts too early, which is noticed.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
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
tried all

# RUN: %fsdpc compile -q net.fsd -o p 2>err; %fsdpc dump --stage=sched net.fsd 2>err | awk '/ wait\(/ { e = $0; sub(/.* wait\(/, "", e); sub(/\).*/, "", e); for (k = split(e, x, ","); k; k--) print /\[gather\]/ ? "ahead" : /\[(send|receive)\]/ ? "message" : "data" }' > kinds; grep -c message kinds
# RUN: n=$(FSDP_TEST_STREAMS=1 FSDP_TEST_DROP_EDGE=4000000 %fsdp-run --quiet p 2>&1 | grep -o '[0-9]* edges' | cut -d' ' -f1); [ $n = $(wc -l < kinds) ]; mapfile -t kind < kinds; for ((e = 0; e < n; e++)); do FSDP_TEST_STREAMS=1 FSDP_TEST_DROP_EDGE=$e %fsdp-run --quiet --threads 1 p 2> err; s=$?; [ $s = 3 ] && grep -q race: err || [ ${kind[$e]} = ahead -a $s = 0 ] || echo "edge $e (${kind[$e]}) is not missed"; done; [ $e -gt 20 ] && echo tried all
# Except for edges that only keep a gather from running further ahead than prefetch says, no edge of a pipeline is
# redundant, those of messages included: without any one of them an instruction starts too early, which is noticed.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== net.fsd
module Net {
  h : Linear(6, 6)[3]
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return x }
}
model = Net
data { train = synthetic(x = [6], y = 6); val = synthetic(x = [6], y = 6, seed = 1) }
train { loss = cross_entropy(model(x), y); batch = 8; accumulate = 2; steps = 1; optimizer = sgd(lr = 0.1); clip = 1; eval_every = 1; eval_steps = 1 }
shard { mesh = (pp = 2, dp = 2); unit = Linear }
==== out
5
tried all

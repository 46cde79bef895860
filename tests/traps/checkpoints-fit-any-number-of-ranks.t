# RUN: seq 300 > t.txt; for n in 3 5 2; do %fsdpc compile -q -n $n -s train.batch=30 net.fsd -o p$n; done; %fsdp-run -q --threads 1 --steps 2 --checkpoint ck --save w3 p3 || exit; for n in 5 2; do %fsdp-run -q --threads 1 --steps 2 --checkpoint ck$n --resume ck --save w$n p$n && %fsdpc check ck$n > /dev/null && cmp w3 w$n || exit; done; echo as saved
# Full state dicts run out of memory and shards of another number of ranks do not fit, least of all empty ones; here each rank
# writes its shards, and reads what is its own of those of other ranks.
# NEEDS: build:device_cpu.so
==== net.fsd
module Two { w : param[2] = zeros; forward(x) = x + w }
module Net { e : Embedding(128, 4); two : Two; o : Linear(4, 2, bias = true)
  out : Linear(2, 128); forward(x) = out(two(o(e(x)))) }
model = Net
data  { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 3; optimizer = adamw(lr = 0.1) }
shard { unit = [Linear, Two] }
==== out
as saved

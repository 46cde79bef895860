# RUN: seq 300 > t.txt; for s in '"e.*" = replicate' 'replicate_below = 512' ''; do sed "s/SET/$s/" net.txt > net.fsd; %fsdpc compile -q -n 4 net.fsd -o p && %fsdp-run -q --threads 1 --save w p && sha256sum < w; done | uniq -c | sed 's/ [0-9a-f]* *-$//'
# Ignored parameters drift apart over ranks; replicated ones are all-reduced, and train as shards do.
# NEEDS: build:device_cpu.so
==== net.txt
module Net { e : Embedding(128, 4); o : Linear(4, 128); forward(x) = o(e(x)) }
model = Net
data  { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 10; optimizer = sgd(lr = 0.1) }
shard { SET }
==== out
      3

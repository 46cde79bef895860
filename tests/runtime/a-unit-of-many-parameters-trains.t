# RUN: printf 'abcdefgh%.0s' {1..40} > t.txt; %fsdpc compile -q net.fsd -o p.bin 2>/dev/null; %fsdp-run --quiet --log log p.bin; grep -c '"event":"step"' log; %fsdpc compile -q net.fsd -o q.bin -n 1; %fsdp-run --quiet --log l1 q.bin; steps() { grep '"event":"step"' $1 | grep -o '"loss":[0-9.]*' | cut -c1-12; }; steps log > a; steps l1 > b; cmp a b && wc -l < a
# A unit of more than 256 parameters packs as many gradients, and trains.
==== net.fsd
module Net {
  e  : Embedding(256, 3)
  fc : Linear(3, 3, bias = true)[200]
  h  : Linear(3, 256)
  forward(ids) { x = e(ids); for f in fc { x = x + f(x) }; return h(x) }
}
model = Net
data  { train = text("t.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.01) }
shard { mesh = (dp = 2); unit = root }
==== out
2
2

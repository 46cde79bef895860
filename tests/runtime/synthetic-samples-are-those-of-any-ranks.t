# RUN: for n in 1 2 4; do %fsdpc compile -q m.fsd -o p -n $n -s train.batch=72 -s 'data.train=synthetic(x = [3, 2], y = 5, samples = 160)' && %fsdp-run --quiet --threads 1 --steps 1 --log l p && grep -o '"loss": *[0-9.]\{6\}' l; done | sort | uniq -c | sed 's/^ *//;s/[0-9.]*$/X/'
# RUN: %fsdpc compile -q m.fsd -o a && %fsdpc compile -q m.fsd -o b -s 'data.train=synthetic(x = [3, 2], y = 5, samples = 16, seed = 1)' && for p in a b; do %fsdp-run --quiet --threads 1 --steps 1 --log l $p; grep -o '"loss": *[0-9.]\{8\}' l; done | sort -u | wc -l
# A sample is a function of the seed and its number, whatever rank reads it, and with how many others; another seed gives
# others.
# NEEDS: build:device_cpu.so
==== m.fsd
module Net {
  w : Linear(6, 5)
  forward(x: [B, 3, 2]) = w(x as [B, 6])
}
model = Net
data { train = synthetic(x = [3, 2], y = 5, samples = 16) }
train { loss = cross_entropy(model(x), y); batch = 8; steps = 2 }
==== out
3 "loss":X
2

# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; for n in 1 2 30 90; do LC_ALL=C %fsdp-run --quiet --threads 1 --log log$n --steps $n p; LC_ALL=C %fsdp-run --threads 1 --steps $n p 2> err | grep ^loss; done; LC_ALL=C.UTF-8 %fsdp-run --threads 1 --steps 90 p 2> err | grep ^loss; %python means.py log90
# A line of the loss: a column is the mean of as many steps, at most 40 of them; in ASCII where the terminal's letters are.
# NEEDS: build:device_cpu.so
==== means.py
import json, sys
loss = [e["loss"] for e in map(json.loads, open(sys.argv[1])) if e["event"] == "step"]
mean = [sum(loss[i : i + 4]) / len(loss[i : i + 4]) for i in range(0, len(loss), 4)]
low, high = min(mean), max(mean)
print("".join("_.:-=+*#"[min(7, int((m - low) / (high - low) * 8))] for m in mean), "%.4g %.4g" % (low, high))
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 90; optimizer = adam(lr = 0.1) }
==== out
loss            #_  _ 4.847  # 4.852
loss            #####*++=::._.__._._._.__._.__  _ 1.764  # 4.852
loss            #*:____________________  _ 1.921  # 4.8
loss            █▇▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  ▁ 1.921  █ 4.8
#*:____________________ 1.921 4.8

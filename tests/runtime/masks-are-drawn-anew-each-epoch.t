# RUN: for s in "mlm(synthetic_tokens(20, samples = 8), mask = 20)" "span_corruption(synthetic_tokens(20, samples = 8), mark = 25)"; do for n in 1 2 4; do sed "s/SOURCE/$s/g" $([ "${s#mlm}" = "$s" ] && echo t5.txt || echo bert.txt) > m.fsd; %fsdpc compile -q m.fsd -o p -n $n && %fsdp-run -q --threads 1 --log log p && %python show.py; done; done | uniq -c | sed 's/^ *//'
# Each epoch masks other tokens and takes other spans out, on any ranks the same; evaluation looks at the same ones again.
# NEEDS: build:device_cpu.so
==== show.py
import json
events = [json.loads(line) for line in open("log")]
loss = [e["loss"] for e in events if e["event"] == "step"]
epochs = ["%.4f" % (sum(loss[i : i + 2]) / 2) for i in (0, 2, 4)]
print(*epochs, "different" if len(set(epochs)) == 3 else "", len({e["loss"] for e in events if e["event"] == "eval"}))
==== bert.txt
module Net {
  w : Embedding(32, 32, init = normal(1.0))
  forward(ids) = w(ids)
}
model = Net
data { train = SOURCE; val = SOURCE; length = 40 }
train { loss = cross_entropy(model(inputs), labels, ignore = -100); batch = 4; epochs = 3; eval_every = 2; eval_steps = 2; optimizer = sgd(lr = 0.0) }
==== t5.txt
module Net {
  w : Embedding(32, 32, init = normal(1.0))
  forward(ids) = w(ids)
}
model = Net
data { train = SOURCE; val = SOURCE; length = 40 }
train { loss = cross_entropy(model(target), labels); batch = 4; epochs = 3; eval_every = 2; eval_steps = 2; optimizer = sgd(lr = 0.0) }
==== out
3 4.0759 4.0856 4.1834 different 1
3 4.0489 4.0702 3.9581 different 1

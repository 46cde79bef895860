# RUN: for type in bf16 f16; do %fsdpc compile -q -s train.precision=$type m.fsd -o p && %fsdp-run -q --threads 1 --log l p; grep -o '"loss":[^,]*' l; done
# Ids that a comparison of activations selects or counts are exact in narrow types, here up to 1199.
# NEEDS: build:device_cpu.so
==== m.fsd
module Net {
  table : param[2000, 1] = normal(1)
  one   : param[1] = ones
  at(ids: [1200]) = gather(table, ids)
  forward(x: [B, T]) {
    p = iota(T)
    h = (p * 0 + 1) * one
    more = (at(where(h > 0, p, 7)) - at(p)) ** 2 + (at(where(h, p, 7)) - at(p)) ** 2
    more += (at(cumsum(h > 0, axis = 0) - 1) - at(p)) ** 2 + (at(p * (h > 0)) - at(p)) ** 2
    more += (at(p * (h > 0) % 1000) - at(p % 1000)) ** 2 + (at(floor(p * (h > 0) / 2)) - at(floor(p / 2))) ** 2
    more += (at(int(sum(h > 0) - p / 2)) - at(int(1200 - p / 2))) ** 2
    return (x * 0 + (more as [T])) * one
  }
}
model = Net
data { train = synthetic_tokens(vocab = 9); length = 1200 }
train { loss = mean(model(inputs)); batch = 1; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
"loss":0.0
"loss":0.0

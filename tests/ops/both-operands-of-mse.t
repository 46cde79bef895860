# RUN: %python make.py && for how in "mse(model(x), y)" "mse(y, model(x))" "mse(model(x), model.other(x))" "mse(model.other(x), model(x))"; do sed "s/LOSS/$how/" m.fsd > n.fsd; for type in f32 bf16; do %fsdpc compile -q -s train.precision=$type n.fsd -o p && %fsdp-run -q --threads 1 --log l p; grep -oE '"(loss|grad_norm)":[^,]*' l; done | paste -sd' '; done
# Both operands of mse can have a gradient; exchanged, loss and gradients are the same.
# NEEDS: build:device_cpu.so python:numpy
==== make.py
import numpy
numpy.save("x.npy", (numpy.arange(32) % 7).reshape(4, 8).astype("f4"))
numpy.save("y.npy", (numpy.arange(32) % 5).reshape(4, 8).astype("f4"))
==== m.fsd
module M {
  a : param[8] = ones
  b : param[8] = ones
  forward(x: [B, 8]) = x * a + b
  other(x: [B, 8]) = x * b * 0.5
}
model = M
data { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = LOSS; batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
"loss":10.09375 "grad_norm":7.8625894271543899 "loss":10.09375 "grad_norm":7.8625894271543899
"loss":10.09375 "grad_norm":7.8625894271543899 "loss":10.09375 "grad_norm":7.8625894271543899
"loss":6.765625 "grad_norm":7.0599068801401339 "loss":6.765625 "grad_norm":7.0599068801401339
"loss":6.765625 "grad_norm":7.0599068801401339 "loss":6.765625 "grad_norm":7.0599068801401339

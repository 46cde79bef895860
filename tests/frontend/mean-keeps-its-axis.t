# RUN: %python make.py; %fsdpc dump --stage=model net.fsd | grep 'mean\|reshape' | sed -n 1,6p | sed 's/ !.*//'
# RUN: %fsdpc dump --stage=model net.fsd -s axis=0 2>&1 | grep 'error\|help'; true
# RUN: for n in 1 2; do %fsdpc compile -q -n $n net.fsd -o p && %fsdp-run --quiet --threads 1 --log log$n p; done; %python show.py
# mean keeps its axis with size 1; over samples it is refused; it trains the same on 1 and 2 ranks.
# NEEDS: build:device_cpu.so
==== make.py
import struct
def save(path, shape, numbers):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    open(path, "wb").write(head + struct.pack(f"<{len(numbers)}f", *numbers))
save("x.npy", (4, 3, 2), [(5 * i) % 7 for i in range(24)])
save("y.npy", (4, 1, 2), [i % 3 for i in range(8)])
==== net.fsd
config { axis = 1 }
module Net {
  w : param[2, 2] = zeros
  forward(x) = mean(linear(tanh(x), w), axis) * sigmoid(mean(w, 0))
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy") }
train { loss = mse(model(x), y); batch = 4; steps = 3; optimizer = sgd(lr = 0.1) }
==== show.py
import json
def losses(n):
    return [s["loss"] for s in map(json.loads, open(f"log{n}")) if s["event"] == "step"]
a, b = losses(1), losses(2)
print(["%.5f" % x for x in a], max(abs(x - y) for x, y in zip(a, b)) < 1e-6)
==== out
  #7 %7: f32[4, 1, 2] = mean(%6)
  #8 %8: f32[1, 2] = mean(%5)
  #20 %19: f32[4, 1, 2] = mean(%18)
  #21 %20: f32[1, 2] = mean(%17)
error[E0208]: `mean` over the samples of the batch would depend on the number of ranks
  = help: name an axis other than the first; only sum(x) and mean(x) over all axes, for aux(..), cover the whole batch
['1.37500', '1.32551', '1.27596'] True

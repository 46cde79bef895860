# RUN: %python make.py && for n in 1 2; do %fsdpc compile -q net.fsd -n $n -o p.bin && %fsdp-run -q --threads 1 --log log$n --save w$n.safetensors p.bin 2>err; tail -1 err; grep -o '"loss":[^,]*\|"skipped":true' log$n | sed 's/\(:[0-9]\....\)[0-9]*/\1/' | paste -sd' '; done
# RUN: for o in stop skip continue; do %fsdpc compile -q net.fsd -s train.on_nan=$o -s 'train.loss=sum((y != -100) * cross_entropy(model(x), y, each = true)) / sum(y != -100)' -o p.bin && %fsdp-run -q --threads 1 --log log --save w$o.safetensors p.bin 2>/dev/null; grep -o '"loss":[^,]*' log | sed 's/\(:[0-9]\....\)[0-9]*/\1/' | paste -sd' '; done
# RUN: cmp wstop.safetensors wskip.safetensors && cmp wstop.safetensors wcontinue.safetensors
# A step whose targets are all ignored logs the loss null, warns and changes nothing, whatever on_nan is, also if weights are all 0.
# NEEDS: build:device_cpu.so
==== make.py
import struct
def save(name, kind, n, width, values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({n},{width})}}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{'f' if 'f' in kind else 'i'}", *values))
save("x.npy", "<f4", 12, " 2", [(i * 7 % 5) / 4 for i in range(24)])
save("y.npy", "<i4", 12, "", [i % 3 if not 4 <= i < 8 else -100 for i in range(12)])
==== net.fsd
module Net {
  a : Linear(2, 3, bias = true)
  forward(x: [B, D]) = a(x)
}
model = Net
data { train = npy(x = "x.npy", y = "y.npy"); order = sequential }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 3; optimizer = sgd(lr = 0.1) }
==== out
warning: step 1: no target counts, so it has no loss and the weights stay as they are
"loss":1.091 "loss":null "skipped":true "loss":1.103
warning: step 1: no target counts, so it has no loss and the weights stay as they are
"loss":1.091 "loss":null "skipped":true "loss":1.103
"loss":1.091 "loss":null "loss":1.103
"loss":1.091 "loss":null "loss":1.103
"loss":1.091 "loss":null "loss":1.103

# RUN: %python make.py; for p in f32 bf16 f16; do for o in adamw adan adafactor; do for s in "good steps=2" "empty steps=3" "infinite steps=3"; do set -- $s; %fsdpc compile -q net.fsd -s train.precision=$p -s "train.optimizer=$o(lr = 0.1)" -s "data.train=npy(x = \"$1.x.npy\", y = \"$1.y.npy\")" -s train.$2 -o p.bin && %fsdp-run -q --threads 1 --save $1 p.bin 2>/dev/null; done; cmp good empty && cmp good infinite && echo $o $p; done; done
# RUN: %fsdpc compile -q net.fsd -s 'train.optimizer=adamw(lr = 0.1)' -o p.bin && %fsdp-run -q --threads 1 --save whole p.bin && %fsdp-run -q --threads 1 --steps 2 --checkpoint ck --checkpoint-every 2 p.bin && grep -o '"skipped": *1' ck/*/*.json && %fsdp-run -q --threads 1 --resume ck --save resumed p.bin && cmp whole resumed
# A step without targets or with a gradient that is not finite does not advance bias corrections, in any precision, and checkpoints count it.
# NEEDS: build:device_cpu.so
# TIME: 60
==== make.py
import struct
def save(name, kind, n, width, values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({n},{width})}}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{'f' if 'f' in kind else 'i'}", *values))
x, y = [(i * 7 % 5 - 2) / 4 for i in range(24)], [i * 2 % 3 for i in range(6)]
for name, first, target in (("good", [], []), ("empty", [1] * 12, [-100] * 3),
                            ("infinite", [float("inf")] * 12, [1] * 3)):
    save(name + ".x.npy", "<f4", len(first + x) // 4, " 4", first + x)
    save(name + ".y.npy", "<i4", len(target + y), "", target + y)
==== net.fsd
module Net {
  a : Linear(4, 3)
  forward(x: [B, D]) = a(x)
}
model = Net
data { train = npy(x = "infinite.x.npy", y = "infinite.y.npy"); order = sequential }
train { loss = cross_entropy(model(x), y); batch = 3; steps = 3; optimizer = adamw(lr = 0.1); on_nan = skip }
==== out
adamw f32
adan f32
adafactor f32
adamw bf16
adan bf16
adafactor bf16
adamw f16
adan f16
adafactor f16
"skipped": 1

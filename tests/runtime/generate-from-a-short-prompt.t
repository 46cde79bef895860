# RUN: seq 900 >t.txt; %fsdpc compile -q toy.fsd -o p && %fsdp-run -q --threads 1 --save w p; python3 likeliest.py %root/tests/runtime 7 4 && %fsdp-run -q --threads 1 --load w --generate 7 --tokens 4 p | cmp - likeliest && echo short
# RUN: for t in 0.0001 5; do %fsdp-run -q --threads 1 --load w --generate 7 --tokens 4 --temperature $t p | cmp -s - likeliest && echo $t; done; true
# A prompt may be shorter than a row, and the last token is the one that counts. As the temperature
# falls, the drawn text becomes the likeliest one.
# NEEDS: build:device_cpu.so
==== likeliest.py
import struct, sys
sys.path.insert(0, sys.argv[1])
import weights
w = weights.read("w")
floats = lambda t: struct.unpack(f"<{len(t[2]) // 4}f", t[2])
emb, out, text = floats(w["emb.weight"]), floats(w["out.weight"]), list(sys.argv[2].encode())
dot = lambda a, b: sum(x * y for x, y in zip(emb[8 * a : 8 * a + 8], out[8 * b : 8 * b + 8]))
for _ in range(int(sys.argv[3])):
    text.append(max(range(128), key=lambda b: dot(text[-1], b)))
open("likeliest", "wb").write(bytes(text) + b"\n")
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 9 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 60; optimizer = adamw(lr = 0.1) }
==== out
short
0.0001

# RUN: seq 900 > t.txt; %fsdpc compile -q toy.fsd -o p1 && %fsdp-run -q --threads 1 --save w p1; python3 likeliest.py %root/tests/runtime "7 and " 30
# RUN: for n in 1 2 4; do %fsdpc compile -q toy.fsd -o p$n -n $n && %fsdp-run -q --threads 1 --load w --generate "7 and " --tokens 30 p$n | cmp - likeliest && echo $n; done; %fsdp-run -q --transport mpi --threads 1 --load w --generate "7 and " --tokens 30 p2 | cmp - likeliest && echo mpi; FSDP_CHECK=memory %fsdp-run -q --load w --generate "7 and " --tokens 30 p2 2> /dev/null | cmp - likeliest && echo checked
# RUN: for a in "--seed 1" "--seed 1" "--seed 2"; do %fsdp-run -q --threads 1 --load w --generate "1" --tokens 40 --temperature 2 $a p1 > s; cmp -s s last && echo same; mv s last; done
# RUN: %fsdpc compile -q toy.fsd -o ids -s 'data.train=synthetic_tokens(128)' && %fsdp-run -q --threads 1 --load w --generate "55, 32 97 110 100 32" --tokens 30 ids | cmp - likeliest.ids && echo ids
# --generate prints what the weights find likeliest, the same on any number of ranks; the same seed
# draws the same text. A model that reads ids prints ids.
# NEEDS: build:device_cpu.so build:transport_mpi.so
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
open("likeliest.ids", "w").write(" ".join(map(str, text)) + "\n")
print(len(set(text)) > 4)
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 60; optimizer = adamw(lr = 0.1) }
==== out
True
1
2
4
mpi
checked
same
ids

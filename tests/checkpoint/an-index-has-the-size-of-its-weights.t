# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 3 -o p && %fsdp-run -q --threads 1 --checkpoint ck --max-file 9KB --save w/ p && %python sizes.py %root/tests/runtime ck/step-* w
# The index of several files, of a checkpoint and of --save, has the bytes of all weights, and the file of each.
# NEEDS: build:device_cpu.so
==== sizes.py
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import weights
for folder in map(pathlib.Path, sys.argv[2:]):
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    there = {name: (path.name, len(t[2])) for path in folder.glob("model-*") for name, t in weights.read(path).items()}
    print(index["metadata"], sum(n for _, n in there.values()), len(set(index["weight_map"].values())))
    print(index["weight_map"] == {name: file for name, (file, _) in there.items()}, len(there))
==== net.fsd
module Net {
  emb : Embedding(128, 12)
  fc  : Linear(12, 20, bias = true)
  out : Linear(20, 128)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 2; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
checkpoint { form = full }
==== out
{'total_size': 17424} 17424 3
True 4
{'total_size': 17424} 17424 2
True 4

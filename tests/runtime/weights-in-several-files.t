# RUN: PYTHONPATH=%root/tests/runtime python3 make.py %root/tests/parity/cases/gpt2-tiny && cp %root/tests/parity/cases/gpt2-tiny/*tokens.bin . && %fsdpc compile -q %root/models/gpt2.fsd -o p -n 2 -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=tokens("tokens.bin")' -s data.val=none -s data.length=32 -s train.batch=4
# RUN: %python %root/tests/runtime/weights.py show one | sha256sum | head -c 8; echo " as written"; for f in one three three/ three/model.safetensors.index.json half brain; do %fsdp-run -q --threads 1 --steps 0 --load $f --save out p && %python %root/tests/runtime/weights.py show out | sha256sum | head -c 8; echo " $f"; done
# RUN: for f in lost moved twice unknown absent up none text; do %fsdp-run -q --steps 0 --load $f p; echo $?; done
# Weights come from a folder with one file or with several and their index, in f32, f16 and bf16: the
# same values give the same bits. An index that does not agree with its files is refused.
# NEEDS: build:device_cpu.so
==== make.py
import json, os, pathlib, sys, weights as w
plain = w.read(sys.argv[1] + "/weights.safetensors")
plain = {k: ("F32", s, b"".join(b"\0\0" + b[i + 2 : i + 3] + b"\x3e" for i in range(0, len(b), 4))) for k, (_, s, b) in plain.items()}
w.write("one/model.safetensors", plain)
w.write_sharded("three", plain, 3)
w.write("half/model.safetensors", {k: w.rounded(v, "F16") for k, v in plain.items()})
w.write_sharded("brain", {k: w.rounded(v, "BF16") for k, v in plain.items()}, 2)
def index(folder, change):
    path = pathlib.Path(folder, "model.safetensors.index.json")
    index = json.loads(path.read_text())
    change(index["weight_map"])
    path.write_text(json.dumps(index))
for name in ("lost", "moved", "twice", "unknown", "absent", "up"):
    w.write_sharded(name, plain, 3)
os.remove("lost/model-00002-of-00003.safetensors")
wte = "transformer.wte.weight"
index("moved", lambda m: m.update({wte: "model-00003-of-00003.safetensors"}))
w.write("twice/model-00002-of-00003.safetensors", {**w.read("twice/model-00002-of-00003.safetensors"), wte: plain[wte]})
index("unknown", lambda m: m.pop(wte))
index("absent", lambda m: m.update({"more": m[wte]}))
index("up", lambda m: m.update({wte: "../one/model.safetensors"}))
os.mkdir("none")
os.mkdir("text")
pathlib.Path("text/model.safetensors.index.json").write_text("{}")
==== out
b68a77c0 as written
b68a77c0 one
b68a77c0 three
b68a77c0 three/
b68a77c0 three/model.safetensors.index.json
b68a77c0 half
b68a77c0 brain
3
3
3
3
3
3
2
3
==== err
error: lost/model.safetensors.index.json: tensor transformer.h.0.attn.c_attn.weight, file model-00002-of-00003.safetensors: the file is missing
error: moved/model.safetensors.index.json: tensor transformer.wte.weight, file model-00001-of-00003.safetensors: the index has it in another file
error: twice/model.safetensors.index.json: tensor transformer.wte.weight, file model-00002-of-00003.safetensors: the index has it in another file
error: unknown/model.safetensors.index.json: tensor transformer.wte.weight, file model-00001-of-00003.safetensors: the index does not name this tensor
error: absent/model.safetensors.index.json: tensor more, file model-00001-of-00003.safetensors: the tensor is not in the file
error: up/model.safetensors.index.json: tensor transformer.wte.weight, file ../one/model.safetensors: not the name of a file next to the index
error: cannot load none: the folder has neither model.safetensors nor model.safetensors.index.json
help: files of several parts need their index, and weights in other formats, such as pytorch_model.bin, have to be saved as safetensors first
error: text/model.safetensors.index.json: not an index of safetensors files: it has no `weight_map`

# RUN: python3 make.py %root/tests/parity/cases/gpt2-tiny && cp %root/tests/parity/cases/gpt2-tiny/*tokens.bin . && %fsdpc compile -q %root/models/gpt2.fsd -o p -n 2 -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=tokens("tokens.bin")' -s data.val=none -s data.length=32 -s train.batch=4
# RUN: for f in plain inner full; do %fsdp-run --threads 1 --steps 0 --load $f --save $f.out p 2>&1 | grep -A1 'tensors of'; cmp plain.out $f.out && echo $f; done
# RUN: for f in untied short; do %fsdp-run --threads 1 --steps 0 --load $f p 2>&1 | grep 'error:'; done
# Weights load whether a file names the whole model or the inner one, with the buffers and the tied
# head that published files have; a tied head with other values, or a missing tensor, is an error.
# NEEDS: build:device_cpu.so
==== make.py
import json, struct, sys
raw = open(sys.argv[1] + "/weights.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + n])
head.pop("__metadata__", None)
plain = {k: (v["dtype"], v["shape"], raw[8 + n:][slice(*v["data_offsets"])]) for k, v in head.items()}
def write(name, tensors):
    head, data = {}, b""
    for k, (dtype, shape, b) in tensors.items():
        head[k] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(b)]}
        data += b
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
masks = {f"h.{i}.attn.{k}": ("U8", [1], b"1") for i in (0, 1) for k in ("bias", "masked_bias")}
wte = plain["transformer.wte.weight"]
write("plain", plain)
write("inner", {**{k.removeprefix("transformer."): v for k, v in plain.items()}, **masks, "strange": wte})
write("full", {**plain, **{"transformer." + k: v for k, v in masks.items()}, "lm_head.weight": wte})
write("untied", {**plain, "lm_head.weight": (wte[0], wte[1], bytes(len(wte[2])))})
short = {k.removeprefix("transformer."): v for k, v in plain.items()}
short.pop("h.1.ln_1.bias")
write("short", short)
==== out
plain
note: tensors of inner that the model does not have:
strange
inner
full
error: untied: tensors transformer.wte.weight and lm_head.weight differ, but they are one tied parameter (wte.weight)
error: short: no tensor h.1.ln_1.bias (parameter h.1.ln_1.bias); the nearest name there is h.0.ln_1.bias
==== exit 3

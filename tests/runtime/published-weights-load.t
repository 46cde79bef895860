# RUN: PYTHONPATH=%root/tests/runtime python3 make.py %root/tests/parity/cases/gpt2-tiny && cp %root/tests/parity/cases/gpt2-tiny/*tokens.bin . && %fsdpc compile -q %root/models/gpt2.fsd -o p -n 2 -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=tokens("tokens.bin")' -s data.val=none -s data.length=32 -s train.batch=4
# RUN: for f in plain inner full; do %fsdp-run -q --threads 1 --steps 0 --load $f --save $f.out p; cmp plain.out $f.out && echo $f; done
# RUN: for f in untied strange; do %fsdp-run -q --threads 1 --steps 0 --load $f p; echo $?; done
# RUN: %fsdp-run -q --threads 1 --steps 0 --load short p
# Weights load whether a file names the whole model or the inner one, with the buffers and the tied
# head that published files have. A tied head with other values is an error; so are tensors that are
# missing, of another shape, or not in the model: all are listed, with the likely name.
# NEEDS: build:device_cpu.so
==== make.py
import sys, weights
plain = weights.read(sys.argv[1] + "/weights.safetensors")
masks = {f"h.{i}.attn.{k}": ("U8", [1], b"1") for i in (0, 1) for k in ("bias", "masked_bias")}
wte = plain["transformer.wte.weight"]
inner = {k.removeprefix("transformer."): v for k, v in plain.items()}
weights.write("plain", plain)
weights.write("inner", {**inner, **masks})
weights.write("full", {**plain, **{"transformer." + k: v for k, v in masks.items()}, "lm_head.weight": wte})
weights.write("untied", {**plain, "lm_head.weight": (wte[0], wte[1], bytes(len(wte[2])))})
weights.write("strange", {**plain, "strange": wte})
inner["h.1.ln_one.bias"] = inner.pop("h.1.ln_1.bias")
inner.pop("h.0.ln_2.bias")
inner["wpe.weight"] = (wte[0], [64, 32], inner["wpe.weight"][2])
weights.write("short", inner)
==== out
plain
inner
full
3
3
==== err
error: untied: tensors transformer.wte.weight and lm_head.weight differ, but they are one tied parameter (wte.weight)
error: strange: not the weights of this model: 0 missing, 0 with another shape or type, 1 unexpected
not in the model: strange
help: a `names` table of the model can skip a tensor: "strange" = skip
error: short: not the weights of this model: 2 missing, 1 with another shape or type, 1 unexpected
wrong shape: wpe.weight is [64, 32], the model needs [32, 64]
missing: h.0.ln_2.bias; is it h.1.ln_one.bias?
missing: h.1.ln_1.bias; is it h.1.ln_one.bias?
not in the model: h.1.ln_one.bias; is it h.1.ln_1.bias?
==== exit 3

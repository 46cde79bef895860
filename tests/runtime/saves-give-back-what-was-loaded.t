# RUN: PYTHONPATH=%root/tests/runtime python3 make.py %root/tests/parity/cases/gpt2-tiny && cp %root/tests/parity/cases/gpt2-tiny/*tokens.bin . && for n in 1 3; do %fsdpc compile -q %root/models/gpt2.fsd -o p$n -n $n -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=tokens("tokens.bin")' -s data.val=none -s data.length=32 -s train.batch=6; done
# RUN: for n in 1 3; do for t in f32 f16 bf16; do %fsdp-run -q --threads 1 --steps 0 --load $t --save out/ --max-file 90KB --save-dtype $t p$n && for f in $t out; do %python %root/tests/runtime/weights.py show $f > $f.txt; done && cmp $t.txt out.txt && echo $t; done; done
# What is loaded and saved in the same type has the same bytes in every tensor, on any number of ranks.
# NEEDS: build:device_cpu.so
==== make.py
import struct, sys, weights
plain = weights.read(sys.argv[1] + "/weights.safetensors")
weights.write("f32/model.safetensors", plain)
for name in ("F16", "BF16"):
    weights.write_sharded(name.lower(), {k: weights.rounded(v, name) for k, v in plain.items()}, 3)
==== out
f32
f16
bf16
f32
f16
bf16

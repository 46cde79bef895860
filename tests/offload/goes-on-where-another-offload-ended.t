# RUN: for o in none '(states = cpu, params = cpu)' '(states = cpu, grads = cpu, path = ".")'; do %fsdpc compile -q net.fsd -o "p$((k++))" -s "shard.offload=$o" || exit; done; %fsdp-run --quiet --save whole p0
# RUN: %fsdp-run --quiet --checkpoint ck --steps 2 p1 && %fsdp-run --quiet --resume ck --checkpoint ck --steps 4 p0 && %fsdp-run --quiet --resume ck --save parts p2 && cmp whole parts
# RUN: %fsdp-run --load whole --eval-only p0 2>/dev/null | grep '^eval' > a; %fsdp-run --load whole --eval-only p1 2>/dev/null | grep '^eval' > b; cmp a b && wc -l < a
# Checkpoints and files of weights know nothing of offload: a run goes on with another one, and has every bit of one that was not interrupted.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { emb : Embedding(16, 6); h : Linear(6, 6); out : Linear(6, 16); forward(x) = out(relu(h(emb(x)))) }
model = Net
data { train = synthetic_tokens(vocab = 16); val = synthetic_tokens(vocab = 16, seed = 3); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 6; clip = 0.5; eval_steps = 1 }
shard { mesh = (dp = 2); unit = Linear }
==== out
1

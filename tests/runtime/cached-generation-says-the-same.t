# RUN: printf '5\n1 2 3 4\n28 0 7\n9 9\n11\n' > prompts; for run in "learned dp=1" "learned pp=2" "learned dp=2,tp=2" "window dp=1" "twice pp=2" "turned dp=2,tp=2" "masked dp=2,tp=2"; do set -- $run; m=$1; mesh=$2; for c in true false; do %fsdpc compile -q $m.fsd --mesh $mesh -s train.cache=$c -o p$c 2> err || { grep ^error err; continue 2; }; done; [ -e $m ] || %fsdp-run -q --threads 1 --save $m pfalse; for draw in "" "--temperature 2 --top-k 9"; do for c in true false; do %fsdp-run -q --threads 1 --load $m --tokens 9 --prompts prompts $draw p$c > $c; done; python3 near.py $m $mesh; [ $m != twice ] || cp ptrue plan; done; done
# RUN: %fsdpc check -v plan | grep "computes the model"; for a in "--tokens 13 --generate 5,6,7" "--tokens 5 --generate 9 --end-token 24" "--predict out.npy" "--eval-only"; do %fsdp-run -q --threads 1 --load twice $a plan; echo $?; done
# With train.cache a plan computes one position at a time, and says what the whole model says for each
# token, on any number of ranks, for prompts of any lengths side by side.
# NEEDS: build:device_cpu.so
# TIME: 120
==== turned.fsd
use "learned.fsd"
module Turned {
  emb  : Embedding(29, D)
  q, k : Linear(D, D)
  out  : Linear(D, 29)
  forward(ids: [B, T]) {
    x = 3 * emb(ids)
    h = x as [B, T, H, D // H]
    y = attention(rope(4 * q(x) as [B, T, H, D // H]), rope(k(x) as [B, T, H, D // H]), h, causal = true)
    return out(x + y as [B, T, D])
  }
}
model = Turned
shard { unit = Linear }
==== masked.fsd
use "learned.fsd"
module Layer {
  q, k, v, o : Linear(D, D)
  near : param[8, H] = normal(1.0)
  heads(x: [B, T, D]) = 3 * x as [B, T, H, D // H]
  forward(x: [B, T, D], seen, packed) {
    x += o(attention(heads(q(x)), heads(k(x)), heads(v(x)), causal = true, mask = seen) as [B, T, D])
    x += o(attention(heads(q(x)), heads(k(x)), heads(v(x)), causal = true, documents = packed) as [B, T, D])
    x += o(attention(heads(q(x)), heads(k(x)), heads(v(x)), causal = true, window = 3, mask = seen, bias = relative_bias(near, T, T, max_distance = 9)) as [B, T, D])
    return x
  }
}
module Masked {
  emb : Embedding(29, D)
  a   : Layer
  out : Linear(D, 29)
  forward(ids: [B, T]) = out(a(3 * emb(ids), ids % 3 > 0, ids % 2))
}
model = Masked
shard { unit = Layer }
==== near.py
import json, sys
cached, whole = ([json.loads(line) for line in open(f)] for f in ("true", "false"))
off = [abs(a - b) for x, y in zip(cached, whole) for a, b in zip(x["logprobs"], y["logprobs"])]
same = [x["ids"] for x in cached] == [x["ids"] for x in whole]
print(*sys.argv[1:], same, len({tuple(x["ids"]) for x in cached}), 0 < len(off), max(off) < 2e-6)
==== learned.fsd
config { D = 16; H = 2; window = 0; shared = 2 }
module Block {
  norm : LayerNorm(D)
  q, o : Linear(D, D, bias = true)
  kv   : Linear(D, 2 * D // shared)
  up   : Linear(D, 4 * D)
  down : Linear(4 * D, D)
  forward(x: [B, T, D]) {
    y = norm(x)
    k, v = split(kv(y) as [B, T, 2, H // shared, D // H], axis = 2)
    if window > 0 { y = attention(q(y) as [B, T, H, D // H], k, v, causal = true, window = window) } else { y = attention(q(y) as [B, T, H, D // H], k, v, causal = true) }
    x += dropout(o(4 * y as [B, T, D]), 0.1)
    return x + down(gelu(up(x)))
  }
}
module LM {
  emb : Embedding(29, D)
  pos : Embedding(12, D)
  h   : Block[2]
  out : Linear(D, 29)
  forward(ids: [B, T]) {
    x = 3 * emb(ids) + pos(iota(T))
    for b in h { x = b(x) }
    return out(x)
  }
}
model = LM
data { train = synthetic_tokens(29); length = 12 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = Block }
==== window.fsd
use "learned.fsd"
config { window = 3; shared = 1 }
==== twice.fsd
use "learned.fsd"
module Twice {
  emb   : Embedding(29, D)
  place : param[T0, D] = normal(1.0)
  block : Block
  out   : Linear(D, 29)
  forward(ids: [B, T]) {
    x = 3 * emb(ids) + place
    for i in range(2) { x = block(x) }
    return out(x)
  }
}
config { T0 = 12 }
model = Twice
shard { unit = [Block, Embedding] }
==== out
learned dp=1 True 5 True True
learned dp=1 True 5 True True
learned pp=2 True 5 True True
learned pp=2 True 5 True True
learned dp=2,tp=2 True 5 True True
learned dp=2,tp=2 True 5 True True
window dp=1 True 4 True True
window dp=1 True 5 True True
twice pp=2 True 4 True True
twice pp=2 True 5 True True
turned dp=2,tp=2 True 5 True True
turned dp=2,tp=2 True 5 True True
masked dp=2,tp=2 True 5 True True
masked dp=2,tp=2 True 5 True True
8  the plan computes the model: 130 ops, 6 losses and metrics, 239 facts, dtypes of 161 results
1
9 18 13
0
1
1
==== err
error: --generate: 3 tokens and --tokens 13 more do not fit into the cache of this plan, which has 12 positions (data.length)
help: compile with a larger data.length, or without train.cache
error: the plan has train.cache: it can train and --generate, and neither evaluate nor --predict
help: compile with -s train.cache=false
error: the plan has train.cache: it can train and --generate, and neither evaluate nor --predict
help: compile with -s train.cache=false

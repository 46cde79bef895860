# RUN: printf '5\n1 2 3 4\n28 0 7\n9 9\n11\n' > prompts; for run in "learned dp=1" "learned pp=2" "learned dp=2,tp=2" "window dp=1" "twice pp=2"; do set -- $run; m=$1; mesh=$2; for c in true false; do %fsdpc compile -q $m.fsd --mesh $mesh -s train.cache=$c -o p$c 2>&- || exit; done; [ -e $m ] || %fsdp-run -q --threads 1 --save $m pfalse; for draw in "" "--temperature 2 --top-k 9"; do for c in true false; do %fsdp-run -q --threads 1 --load $m --tokens 9 --prompts prompts $draw p$c > $c; done; cmp true false && echo $m $mesh $(sort -u true | wc -l); done; done; cat true
# RUN: %fsdpc check -v ptrue | grep "computes the model"; for a in "--tokens 13 --generate 5,6,7" "--tokens 5 --prompts prompts --end-token 21" "--predict out.npy" "--eval-only"; do %fsdp-run -q --threads 1 --load twice $a ptrue; echo $?; done
# With train.cache a plan computes one position at a time, and says what the whole model says for each
# token, on any number of ranks, for prompts of any lengths side by side.
# NEEDS: build:device_cpu.so
# TIME: 120
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
learned dp=1 5
learned dp=1 5
learned pp=2 5
learned pp=2 5
learned dp=2,tp=2 5
learned dp=2,tp=2 5
window dp=1 5
window dp=1 5
twice pp=2 5
twice pp=2 5
{"prompt":"5","ids":[14,27,1,24,25,13,26,16,10],"ended":false}
{"prompt":"1 2 3 4","ids":[13,23,23,5,26,27,1,0,22],"ended":false}
{"prompt":"28 0 7","ids":[1,13,24,5,3,28,19,7,18],"ended":false}
{"prompt":"9 9","ids":[27,6,24,23,5,5,8,4,17],"ended":false}
{"prompt":"11","ids":[26,13,18,21,25,5,18,11,13],"ended":false}
8  the plan computes the model: 130 ops, 6 losses and metrics, 239 facts, dtypes of 161 results
1
{"prompt":"5","ids":[18,13,24,18,0],"ended":false}
{"prompt":"1 2 3 4","ids":[18,0],"ended":true}
{"prompt":"28 0 7","ids":[16,18,0],"ended":true}
{"prompt":"9 9","ids":[13,24,18,0],"ended":true}
{"prompt":"11","ids":[18,13,24,18,0],"ended":false}
0
1
1
==== err
error: --generate: 3 tokens and --tokens 13 more do not fit into the cache of this plan, which has 12 positions (data.length)
error: the plan has train.cache: it can train and --generate, and neither evaluate nor --predict
help: compile with -s train.cache=false
error: the plan has train.cache: it can train and --generate, and neither evaluate nor --predict
help: compile with -s train.cache=false

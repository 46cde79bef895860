# RUN: printf '7\n1 2 3\n28, 0\n5 5 5 5 5 5 5 5 5 5\n11\n' > prompts; for mesh in dp=1 pp=2 dp=2,cp=2,tp=2; do %fsdpc compile -q toy.fsd --mesh $mesh -o p || exit; [ -e w ] || %fsdp-run -q --threads 1 --save w p; for draw in "" "--temperature 3" "--temperature 3 --top-k 9 --top-p 0.6"; do %fsdp-run -q --threads 1 --load w --tokens 9 --prompts prompts $draw p; done > $mesh; python3 near.py $mesh; done
# RUN: n=0; while read line; do %fsdp-run -q --load w --tokens 9 --generate "$line" p; done < prompts > alone; python3 compare.py dp=1 alone
# RUN: sed -n 11,15p dp=1 | cut -d '"' -f 1-7
# Prompts of a file are continued as samples of one batch, as many at once as it has, on any number of
# ranks: the tokens are those of each prompt alone, and those of one rank, by any choice. The sixth
# prompt is longer than a sample.
# NEEDS: build:device_cpu.so
# TIME: 60
==== toy.fsd
module Toy {
  emb : Embedding(29, 12)
  pos : Embedding(8, 12)
  mix : Linear(12, 12)
  out : Linear(12, 29)
  forward(x: [B, T]) {
    h = emb(x) + pos(iota(T))
    return out(4 * silu(mix(h)) + attention(h as [B, T, 1, 12], h as [B, T, 1, 12], h as [B, T, 1, 12], causal = true) as [B, T, 12])
  }
}
model = Toy
data { train = synthetic_tokens(29); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; accumulate = 1; steps = 2; optimizer = sgd(lr = 0.1) }
shard { unit = Linear }
==== compare.py
import json, sys
together = [json.loads(line) for line in list(open(sys.argv[1]))[:5]]
alone = [list(map(int, line.split())) for line in open(sys.argv[2])]
prompts = [list(map(int, t["prompt"].replace(",", " ").split())) for t in together]
print([p + t["ids"] for p, t in zip(prompts, together)] == alone, len({tuple(t["ids"]) for t in together}))
==== near.py
import json, sys
one, other = ([json.loads(line) for line in open(f)] for f in ("dp=1", sys.argv[1]))
worst = max(abs(a - b) for x, y in zip(one, other) for a, b in zip(x["logprobs"], y["logprobs"]))
print(sys.argv[1], [x["ids"] for x in one] == [x["ids"] for x in other], worst < 2e-6)
==== out
dp=1 True True
pp=2 True True
dp=2,cp=2,tp=2 True True
True 5
{"prompt":"7","ids":[10,17,1,10,16,9,11,11,11],
{"prompt":"1 2 3","ids":[13,16,16,2,16,28,2,1,10],
{"prompt":"28, 0","ids":[2,10,17,9,2,16,15,6,15],
{"prompt":"5 5 5 5 5 5 5 5 5 5","ids":[22,2,16,16,2,2,2,1,9],
{"prompt":"11","ids":[25,11,17,16,17,11,16,10,10],

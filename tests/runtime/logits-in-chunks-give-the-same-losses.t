# RUN: one() { %fsdpc compile -q net.fsd -o p "${@:2}" && FSDP_CHECK=memory %fsdp-run -q --threads 2 --log log p 2> memory && awk '$6 + 0 > $8 + 0' memory && %python losses.py $1; }; for set in -n1 -n3 "-n2 -s train.accumulate=3" "-n2 -s tied=1" "-n2 -s train.precision=bf16(reduce=bf16)" "-n1 -s train.precision=bf16" "-n2 -s train.precision=f16" "--mesh pp=2 -s train.accumulate=3" "--mesh rep=2,dp=2"; do for n in 1 5 7 999; do one $n $set -s train.loss_chunks=$n; done; %python compare.py $set; done
# Chunks of logits, of equal length or not, on any ranks, change losses and norms by rounding only, in evaluations too.
# NEEDS: build:device_cpu.so
==== net.fsd
config { tied = 0 }
module Block {
  fc : Linear(8, 8)
  forward(x) = x + relu(fc(x))
}
module Net {
  first : Block[2]
  emb  : Embedding(37, 8)
  ln   : LayerNorm(8)
  head : Linear(8, 37)
  if tied == 1 { tie head.weight = emb.weight }
  forward(x) {
    x = emb(x)
    for b in first { x = b(x) }
    return head(ln(x))
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 37); length = 6; val = synthetic_tokens(vocab = 37) }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 4; optimizer = adamw(lr = 0.01)
        eval_every = 2; eval_steps = 2; loss_chunks = 5 }
shard { mesh = (dp = 1); unit = Block }
==== losses.py
import json, sys
with open("log") as log, open("losses" + sys.argv[1], "w") as out:
    events = map(json.loads, log)
    json.dump([e[k] for e in events for k in ("loss", "grad_norm") if k in e], out)
==== compare.py
import json, sys
want, *others = [json.load(open("losses" + n)) for n in ("1", "5", "7", "999")]
far = max(abs(x / y - 1) for got in others for x, y in zip(got, want, strict=True))
print(*sys.argv[1:], len(want), far < (2e-3 if "f16" in str(sys.argv) else 1e-6))
==== out
-n1 10 True
-n3 10 True
-n2 -s train.accumulate=3 10 True
-n2 -s tied=1 10 True
-n2 -s train.precision=bf16(reduce=bf16) 10 True
-n1 -s train.precision=bf16 10 True
-n2 -s train.precision=f16 10 True
--mesh pp=2 -s train.accumulate=3 10 True
--mesh rep=2,dp=2 10 True

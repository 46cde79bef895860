# RUN: %fsdpc compile %s -o p 2>&1 | grep -v '^at the peak\|^note\|^$'; %fsdp-run -q --log log p && %fsdpc dump --format=json p | %python -c 'import json; p = json.load(open(0))["predicted_peak_bytes"]; start = json.loads(next(open("log"))); r = p["by_role"]; print(*("%(first_rank)d + %(ranks)d: %(cpu)d, arena %(arena)d, states %(states)d, kept %(kept)d" % x for x in r), sep="\n"); print("largest", [p[k] == max(x[k] for x in r) for k in ("cpu", "cuda", "arena")], "log", start["predicted_peak_bytes"] == p["cpu"], "rank 0", start["arena_bytes"] == r[0]["cpu"])'
# compile tells of each stage its units, parameters, peak and bytes sent, and how long it is idle. predicted_peak_bytes is
# that of the largest role, by_role lists all of them; arena_bytes of the log is what the rank itself allocates.
==== net.fsd
module Net {
  h : Linear(8, 8)[3]
  head : Linear(8, 400)
  forward(x: [B, D]) { for f in h { x = relu(f(x)) }; return head(x) }
}
model = Net
data { train = synthetic(x = [8], y = 400) }
train { loss = cross_entropy(model(x), y); batch = 8; accumulate = 2; steps = 1; optimizer = adamw(lr = 0.1) }
shard { mesh = (pp = 2, dp = 2); unit = Linear }
==== out
net.fsd: 3,392 parameters, 4 ranks, 4 units
pp = 2: 2 stages; of equal length they are idle for 1 of 3 turns, 33 %
  stage 0: 3 units, 192 parameters; a rank peaks at 7.6 KiB, sends 2.7 KiB a step
  stage 1: 1 unit, 3,200 parameters; a rank peaks at 45.6 KiB, sends 38.2 KiB a step
gathers send 25.0 KiB per rank and step; 6.2 KiB if units stay gathered for the step (hold = true, reshard = false)
per rank: peak 45.8 KiB on cpu (192 B workspace), 32.0 MiB on cuda (32.0 MiB workspace); sends per step along dp 37.5 KiB, pp dp 576 B, pp 128 B
0 + 2: 7936, arena 7808, states 6400, kept 1536
2 + 2: 46848, arena 46656, states 27392, kept 0
largest [True, True, True] log True rank 0 True

# RUN: m=%root/models; while read -r model options; do %python add.py %fsdpc $m/$model $options; done <list
# The tensors that fit lists have, by category, the bytes that dump finds at the peak: none is missing, no byte counts twice, and they fill five sixths of it.
# NEEDS: sanitizer:none
==== list
linear.fsd -n 2
mlp.fsd -n 3 -s train.batch=24
six-layers.fsd -n 4
gpt-text.fsd --mesh dp=2,tp=2 -s shard.strategy=grads
gpt-text.fsd --mesh rep=2,dp=2,cp=2 -s shard.reshard=2
gpt-text.fsd -s shard.offload=(states=cpu,params=cpu)
gpt-text.fsd -n 8 -s shard.strategy=none -s shard.prefetch=3 -s shard.layout=param
gpt2.fsd -s shard.gather=i8 -s shard.recompute=Block
bert.fsd -s train.batch=64 -s train.accumulate=2
mixtral.fsd -n 4
t5.fsd -n 2
gpt-text.fsd --mesh pp=2,dp=2 -s train.accumulate=4
gpt-text.fsd --mesh pp=2 -s shard.pipeline=interleaved -s shard.stages=4 -s train.accumulate=4
==== add.py
import json, subprocess, sys
def ask(*words):
    return json.loads(subprocess.run([sys.argv[1], *words, "--format=json", *sys.argv[2:]],
                                     capture_output=True, text=True).stdout)
tensors = ask("fit", "--memory", "900GiB", "--device", "cpu")["tensors"]
dump = ask("dump")["predicted_peak_bytes"]
peak = dump["categories"]
sums = dict.fromkeys((k for k in peak if k != "unused" and not k.startswith("workspace")), 0)
for row in tensors:
    sums[row["category"]] += row["bytes"]
ordered = sorted(tensors, key=lambda row: -row["bytes"])
wrong = {k: (n, peak[k]) for k, n in sums.items() if n != peak[k]}
full = peak["unused"] < dump["arena"] / 6  # what both forget would count as unused
print(wrong or "equal", [r["bytes"] for r in tensors] == [r["bytes"] for r in ordered], full)
print(*(f"{r['count']} x {r['name']} {r['file']}:{r['line']}" for r in tensors[:2]), sep=", ")
==== out
equal True True
1 x staging None:None, 1 x x linear.fsd:8
equal True True
2 x (root)' mlp.fsd:8, 1 x m None:None
equal True True
3 x fc.*+fc.*' six-layers.fsd:4, 1 x fc.*+fc.* six-layers.fsd:4
equal True True
5 x h.*.mlp.c_fc.linear_gelu gpt-text.fsd:23, 5 x h.*.mlp.c_fc.linear_gelu:h gpt-text.fsd:23
equal True True
2 x h.*.unshard' gpt-text.fsd:38, 5 x h.*.mlp.c_fc gpt-text.fsd:23
equal True True
5 x h.*.mlp.c_fc gpt-text.fsd:23, 5 x h.*.mlp.c_fc:h gpt-text.fsd:23
equal True True
5 x m.h.* None:None, 5 x v.h.* None:None
equal True True
1 x cross_entropy_both gpt2.fsd:67, 11 x h.*.ln_1 gpt2.fsd:33
equal True True
12 x layer.*.fc_in bert.fsd:15, 12 x layer.*.fc_in:h bert.fsd:15
equal True True
33 x layers.*' mixtral.fsd:54, 32 x m.layers.* None:None
equal True True
6 x enc.*.ff t5.fsd:17, 1 x cross_entropy_both t5.fsd:82
equal True True
1 x kept activations None:None, 3 x h.*' gpt-text.fsd:38
equal True True
1 x kept activations None:None, 3 x grad.h.* None:None

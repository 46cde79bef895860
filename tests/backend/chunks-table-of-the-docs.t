# RUN: %python table.py %fsdpc %root
# The second table of docs/recomputation.md is what plans say of the memory of a rank, with logits whole and in chunks.
# NEEDS: sanitizer:none
==== table.py
import json, re, subprocess, sys
fsdpc, root = sys.argv[1:]
def arena(model, *options):
    done = subprocess.run([fsdpc, "dump", "--format=json", *options, f"{root}/models/{model}.fsd"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["predicted_peak_bytes"]["arena"]
rows = 0
for line in open(root + "/docs/recomputation.md", encoding="utf-8"):
    chunks = re.match(r"\| (\d+) \|", line)
    if not chunks:
        continue
    rows += 1
    own = ["-s", "train.loss_chunks=" + chunks[1]]
    gpt2 = [arena("gpt2", "-n", "8", "-s", "train.batch=64", "-s", "shard.recompute=" + r, *own)
            for r in ("none", "Block")]
    llama = arena("llama3", "-n", "64", "-s", "shard.recompute=Block", *own)
    want = f"| {chunks[1]} | {gpt2[0] / 2**20:,.0f} MiB | {gpt2[1] / 2**20:,.0f} MiB | {llama / 2**30:,.0f} GiB |"
    if want != line.strip():
        print(want)
print(rows, "rows")
==== out
5 rows

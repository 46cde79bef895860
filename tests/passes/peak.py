"""Peak against the live-bytes bound: peak.py fsdpc gpt2.fsd, over batches, ranks, strategies
and dtypes. Prints by strategy how many cases are within the limit, and every case that is not."""
import json
import subprocess
import sys

LIMIT = 1.05


def excess(strategy, ranks, precision, samples, tokens):
    command = [sys.argv[1], "dump", "--format=json", "-n", str(ranks), sys.argv[2],
               "-s", f"train.batch={samples * ranks}", "-s", f"seq={tokens}",
               "-s", f"shard.strategy={strategy}", "-s", f"train.precision={precision}"]
    peak = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    peak = peak["predicted_peak_bytes"]
    return peak["arena"] / peak["lower_bound"]


for strategy in ("full", "grads", "none"):
    cases = 0
    for ranks in (1, 2, 8):
        for precision in ("f32", "bf16(master = f32)"):
            for samples, tokens in ((4, 64), (8, 1024)):
                e = excess(strategy, ranks, precision, samples, tokens)
                cases += e <= LIMIT
                if e > LIMIT:
                    print(strategy, ranks, precision, samples, tokens, f"{e:.4f}")
    print(f"{strategy}: {cases} cases within {LIMIT}")

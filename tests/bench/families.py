#!/usr/bin/env python3
"""Other architectures in bf16 on the CPU, ours and those of Transformers, both timed in one run.

    tests/bench/families.py PYTHON [--rounds 3] [--steps 6] [--threads 2] [--only llama]

PYTHON has torch and transformers. Both train the model of one config.json with random weights; its
AdamW is fused, its weights and values are bf16 (ours: f32 master weights), its allocator and
threads are those of tuned.py. Prints the median and the shortest step of each, by `eager` and by
`compile` (torch.compile), and the ratios; both run alternately, --rounds times. Needs a built fsdpc
(ninja).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("FSDP_BUILD", "build")
LM = {"vocab_size": 32000, "hidden_size": 768, "num_attention_heads": 12,
      "num_key_value_heads": 4, "max_position_embeddings": 2048, "hidden_act": "silu"}
CASES = {  # name: samples, positions, config.json
    "llama": (1, 2048, {**LM, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
                        "intermediate_size": 2048, "num_hidden_layers": 12}),
    "mixtral": (1, 512, {**LM, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"],
                         "intermediate_size": 1024, "num_hidden_layers": 6,
                         "num_local_experts": 8, "num_experts_per_tok": 2,
                         "sliding_window": None}),
    "bert": (8, 128, {"model_type": "bert", "architectures": ["BertForMaskedLM"],
                      "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
                      "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu",
                      "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}),
    "t5": (8, 128, {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
                    "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048,
                    "num_layers": 6, "num_decoder_layers": 6, "num_heads": 8,
                    "feed_forward_proj": "relu", "dropout_rate": 0.0}),
}


def peer(name, mode, steps, threads):
    """Prints the milliseconds of each step after the second."""
    import torch
    import transformers

    samples, positions, config = CASES[name]
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    kind = transformers.AutoConfig.for_model(**config)
    model = getattr(transformers, config["architectures"][0])(kind).to(torch.bfloat16).train()
    run = torch.compile(model) if mode == "compile" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    ids = torch.randint(0, config["vocab_size"], (samples, positions))
    given = {"input_ids": ids, "labels": ids}
    if name == "bert":
        given["attention_mask"] = torch.ones_like(ids)
    if name == "t5":
        given["labels"] = ids[:, : target_length(positions)].contiguous()
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        run(**given).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps(times[2:]))


def target_length(positions):
    """Of span_corruption(rate = 0.15, span = 3): the spans, a mark before each, one at the end."""
    removed = max(round(positions * 0.15), 1)
    return removed + max(round(removed / 3), 1) + 1


def run_peer(python, name, mode, options, environment):
    what = f"{name},{mode},{options.steps},{options.threads}"
    done = subprocess.run([python, __file__, "--peer", what], env=environment,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compile_ours(name, folder):
    samples, positions, config = CASES[name]
    plan = folder / f"{name}.bin"
    (folder / "config.json").write_text(json.dumps(config))
    sets = [f"train.batch={samples}", f"data.length={positions}", "train.steps=1000",
            "train.precision=bf16", "train.clip=none", "train.schedule=constant",
            "train.optimizer=adamw(lr = 1e-4)"]
    subprocess.run([BUILD / "fsdpc", "compile", "-q", "--hf", folder / "config.json", "-o", plan,
                    *(x for s in sets for x in ("-s", s))], check=True, cwd=folder)
    return plan


def run_ours(plan, options, folder):
    log = folder / "log"
    log.unlink(missing_ok=True)
    subprocess.run([BUILD / "fsdp-run", "--quiet", "--threads", str(options.threads), "--steps",
                    str(options.steps), "--log", log, plan], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    events = map(json.loads, log.read_text().splitlines())
    return [e["step_ms"] for e in events if e["event"] == "step"][2:]


def compare(name, options, folder):
    import tuned

    plan = compile_ours(name, folder)
    environments = {n: {**e, **tuned.BOUND} for n, e in tuned.allocators().items()}
    fastest = min(environments, key=lambda n: min(
        run_peer(options.python, name, "eager", options, environments[n])))
    for mode in ("eager", "compile"):
        rounds = [(run_peer(options.python, name, mode, options, environments[fastest]),
                   run_ours(plan, options, folder)) for _ in range(options.rounds)]
        its, ours = ([t for r in rounds for t in r[k]] for k in range(2))
        (their_median, their_best), (median, best) = (
            (statistics.median(t), min(t)) for t in (its, ours))
        print(f"{name:8} {mode:8} {their_median:7.1f} {their_best:7.1f} {median:7.1f} {best:7.1f} "
              f"{median / their_median:6.2f} {best / their_best:6.2f}  {fastest}", flush=True)


def main():
    if sys.argv[1:2] == ["--peer"]:
        name, mode, steps, threads = sys.argv[2].split(",")
        return peer(name, mode, int(steps), int(threads))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    times = f"{'median':>7} {'best':>7} "
    print(f"{'':17} {'Transformers, ms':>15} {'ours, ms':>15}    ours / its\n"
          f"{'model':8} {'mode':8} {times}{times}{'median':>6} {'best':>6}  its allocator")
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            if options.only in name:
                compare(name, options, pathlib.Path(folder))


main()

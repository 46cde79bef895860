"""Published measurements of training steps as model files of ours. A row of the table names the
model's sizes, how it was trained and sharded, and on what; `model_file` writes the same as a .fsd.

What a row must say, and what a model file cannot say, is in `unanswered`. Where a row says nothing
of heads or words, heads have the width 128 and the vocabulary is GPT-2's."""
import math
import re

MACHINES = (("H100", "h100-80"), ("A100 40GB", "a100-40"), ("A100", "a100-80"), ("A800", "a100-80"),
            ("RTX PRO 6000", "rtx-pro-6000"), ("RTX 4090", "rtx-4090"))
SIZES = ("layers", "hidden", "heads", "kv", "ffn", "vocab", "seq")  # of a model

GPT = """
module Attention {
  qkv : Linear(D, 3 * D, bias = BIAS); out : Linear(D, D, bias = BIAS)
  forward(x: [B, T, D]) {
    q, k, v = split(qkv(x) as [B, T, 3, H, D // H], axis = 2)
    return out(attention(q, k, v, causal = true) as [B, T, D])
  }
}
module MLP {
  up : Linear(D, F, bias = BIAS); down : Linear(F, D, bias = BIAS)
  forward(x) = down(gelu(up(x)))
}
module Block {
  norm_1, norm_2 : LayerNorm(D, bias = BIAS); attn : Attention; mlp : MLP
  forward(x) {
    x += attn(norm_1(x))
    x += mlp(norm_2(x))
    return x
  }
}
module Net {
  wte : Embedding(V, D); wpe : Embedding(T, D); h : Block[L]
  norm : LayerNorm(D, bias = BIAS); head : Linear(D, V)
  tie head.weight = wte.weight
  forward(ids: [B, T]) {
    x = wte(ids) + wpe(iota(T))
    for block in h { x = block(x) }
    return head(norm(x))
  }
}
"""

LLAMA = """
module Attention {
  q_proj, o_proj : Linear(D, D); k_proj, v_proj : Linear(D, KV * (D // H))
  forward(x: [B, T, D]) {
    q = rope(q_proj(x) as [B, T, H, D // H])
    k = rope(k_proj(x) as [B, T, KV, D // H])
    v = v_proj(x) as [B, T, KV, D // H]
    return o_proj(attention(q, k, v, causal = true) as [B, T, D])
  }
}
module MLP {
  gate, up : Linear(D, F); down : Linear(F, D)
  forward(x) = down(silu(gate(x)) * up(x))
}
module Block {
  norm_1, norm_2 : RMSNorm(D); attn : Attention; mlp : MLP
  forward(x) {
    x += attn(norm_1(x))
    x += mlp(norm_2(x))
    return x
  }
}
module Net {
  wte : Embedding(V, D); h : Block[L]; norm : RMSNorm(D); head : Linear(D, V)
  forward(ids) {
    x = wte(ids)
    for block in h { x = block(x) }
    return head(norm(x))
  }
}
"""


def machine_of(row):
    return next((machine for gpu, machine in MACHINES if gpu in row["gpu"]), None)


def number(row, key):
    """A whole number, in millions if it ends with M; of a range the first."""
    m = re.match(r"(\d+)(M?)(?!\w)", row.get(key) or "")
    return int(m[1]) << (20 if m[2] else 0) if m else None


def complete(rows):
    """Rows with what others say: a row that does not give its model's sizes has those of another
    row of the model. Where the samples at a time are not given, it is one, and micro-batches are as
    many as the tokens of a step want."""
    known = {}
    for row in rows:
        if row["layers"]:
            known.setdefault(row["model"], row)
    for row in rows:
        if not row["layers"] and row["model"] in known:
            row.update({key: row[key] or known[row["model"]][key] for key in SIZES})
        tokens = number(row, "global_batch_tokens")
        if row["micro_batch"] or not (tokens and number(row, "seq") and number(row, "gpus")):
            continue
        samples = tokens // number(row, "seq") // mesh_of(row)[2]
        row.update({"micro_batch": "1", "grad_accum": str(samples)})
    return rows


def unanswered(row):
    """Why the row has no model file, or None."""
    sizes = ("layers", "hidden", "ffn", "seq", "micro_batch", "grad_accum", "gpus")
    if re.search(r"fp8|float8", row["precision"], re.I):
        return "products in fp8"
    if not machine_of(row):
        return f"no machine file of {row['gpu']}"
    missing = [key for key in sizes if number(row, key) is None]
    return f"the row has no {missing[0]}" if missing else None


def mesh_of(row):
    """Axes, the strategy, and how many ranks have samples of their own."""
    said = row["strategy"]
    along = {axis: int(m[1]) if (m := re.search(axis + r" (\d+)", said, re.I)) else 1
             for axis in ("pp", "cp", "tp")}
    rest = number(row, "gpus") // math.prod(along.values())
    over = re.search(r"over (\d+)", said)
    shards = min(int(over[1]), rest) if over else rest
    strategy = "full"
    if said.startswith("none") or "DP rest" in said:
        strategy = "none"
    elif said.startswith("ZeRO-1") and "fsdp True" not in said:
        strategy = "states"
    elif "SHARD_GRAD_OP" in said or "no reshard" in said:
        strategy = "grads"
    sizes = {"pp": along["pp"], "rep": rest // shards, "dp": shards, "cp": along["cp"],
             "tp": along["tp"]}
    axes = [f"{axis} = {n}" for axis, n in sizes.items() if n > 1 or axis == "dp"]
    return ", ".join(axes), strategy, rest


def recompute_of(row):
    said = row["recompute"]
    if said in ("full block", "full"):
        return "recompute = Block"
    if said.startswith("selective") or "SAVE" in said:
        return "recompute = (Block, keep = [linear, attention])"
    if m := re.match(r"first (\d+) layers", said):
        return "; ".join(f'"h.{i}" = recompute' for i in range(int(m[1])))
    return ""


def model_file(row):
    llama = "llama" in row["model"].lower() or "internlm" in row["model"].lower()
    mesh, strategy, samples = mesh_of(row)
    n = {key: number(row, key) for key in ("layers", "hidden", "heads", "ffn", "vocab", "seq")}
    n["heads"] = n["heads"] or n["hidden"] // 128
    n["vocab"] = n["vocab"] or 50304
    bias = "false" if row["model"].startswith("MPT") else "true"
    batch = number(row, "micro_batch") * number(row, "grad_accum") * samples
    half = "f16" if row["precision"].startswith("fp16") else "bf16"
    form = "scale = 1024, master = f32" if half == "f16" else "master = f32, reduce = bf16"
    n["kv"] = number(row, "kv") or n["heads"]
    return f"""config {{ L = {n["layers"]}; D = {n["hidden"]}; H = {n["heads"]}; KV = {n["kv"]}
         F = {n["ffn"]}; V = {n["vocab"]}; T = {n["seq"]} }}
{LLAMA if llama else GPT.replace("BIAS", bias)}
model = Net
data {{ train = synthetic_tokens(V); length = T }}
train {{ loss = cross_entropy(model(inputs), targets); batch = {batch}; steps = 1; clip = 1.0
        accumulate = {row["grad_accum"]}; optimizer = adamw(lr = 1e-4)
        precision = {half}({form}) }}
shard {{ mesh = ({mesh}); unit = Block; strategy = {strategy}
        {recompute_of(row)} }}
"""

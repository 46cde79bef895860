"""Random config.json files of the families in models/hf, against Hugging Face Transformers.

    hf_cases.py check FSDPC FSDP_RUN FIRST COUNT [FAMILY..]   needs torch, transformers, safetensors
    hf_cases.py record FSDPC FSDP_RUN COUNT FILE              the same; keeps cases for replay
    hf_cases.py replay FSDPC FSDP_RUN FILE [FIRST COUNT]      the standard library is enough

Each case is a folder that from_config(..).save_pretrained(..) wrote, with weights by a formula.
fsdpc imports it; fsdp-run --load computes loss and gradients of one batch, Transformers does the
same in float64. The loss must agree within 1e-6, the gradients within 1e-5 of their norm (where
Transformers in float32 is farther off, within that), or the import must name the key that it
refuses.
"""
import array
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

BATCH, LENGTH = 4, 24
LOSS, GRADIENT = 1e-6, 1e-5
TEXT = "".join(f"{n}\n" for n in range(300)).encode()


# ---- weights by a formula, without torch or numpy

def values(name, shape):
    """Numbers of one tensor: near 1 for norms, near 0 otherwise, never all alike."""
    n = math.prod(shape)
    seed = zlib.crc32(name.encode())
    centre = 1.0 if len(shape) == 1 and "norm" in name.lower() and name.endswith("weight") else 0.0
    wide = 0.4 if len(shape) > 1 else 0.2
    word, out = seed, array.array("f")
    for _ in range(n):
        word = (word * 1664525 + 1013904223) & 0xffffffff
        out.append(centre + wide * ((word >> 8) / 2 ** 24 - 0.5))
    return out


def write_weights(path, shapes):
    header, data, at = {}, [], 0
    for name, shape in shapes.items():
        numbers = values(name, shape)
        size = 4 * len(numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        data.append(numbers.tobytes())
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def header_of(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    header.pop("__metadata__", None)
    return {name: row["shape"] for name, row in header.items()}


# ---- a batch: fields of the model file, and arguments of Transformers' model

def rows(width, first, top):
    return [[(first + 7 * i * i + 3 * j * (i + 1)) % top for j in range(width)]
            for i in range(BATCH)]


def fields_of(family):
    """Names of fields and their rows; the rows are ids, None for a language model of bytes."""
    if family in ("albert", "bert"):
        seen = [[1] * (LENGTH - 2 * i) + [0] * (2 * i) for i in range(BATCH)]
        labels = [[word if (i + j) % 4 == 0 and seen[i][j] else -100 for j, word in enumerate(row)]
                  for i, row in enumerate(rows(LENGTH, 5, 60))]
        return {"inputs": rows(LENGTH, 3, 60), "segments": rows(LENGTH, 0, 2), "mask": seen,
                "labels": labels}
    if family == "t5":
        return {"source": rows(LENGTH, 3, 60), "target": rows(10, 1, 59), "labels": [
            [word + 1 for word in row] for row in rows(10, 2, 59)]}
    return None


def write_fields(folder, fields):
    for name, table in fields.items():
        head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({BATCH}, {len(table[0])}), }}"
        head = head.ljust(117) + "\n"
        flat = array.array("i", [word for row in table for word in row])
        (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head))
                                             + head.encode() + flat.tobytes())


# ---- ours

class Refused(Exception):
    pass


def run(*command, cwd):
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)


def ours(fsdpc, fsdp_run, folder, family):
    """Loss, norm of the gradient, for the weights of folder/hub."""
    (folder / "t.txt").write_bytes(TEXT)
    fields = fields_of(family)
    data = ["-s", 'data.train=text("t.txt")', "-s", f"data.length={LENGTH}"]
    if fields:
        write_fields(folder, fields)
        arrays = ", ".join(f'{name} = "{name}.npy"' for name in fields)
        data = ["-s", f"data.train=npy({arrays})", "-s", "data.length=none"]
    done = run(fsdpc, "import", "-q", "hub", "-o", "m.fsd", cwd=folder)
    if done.returncode == 1:
        keys = re.findall(r"hub/config.json: ([\w.]+):", done.stderr)
        keys += re.findall(r"does not hold: ([\w., ()]+) must", done.stderr)
        raise Refused(" ".join(keys) or "WITHOUT A KEY " + done.stderr)
    if done.returncode:
        raise SystemExit(f"import: {done.returncode} {done.stderr}")
    done = run(fsdpc, "compile", "-q", "m.fsd", *data, "-s", "data.order=sequential", "-s",
               f"train.batch={BATCH}", "-s", "train.steps=1", "-s", "train.schedule=constant", "-o",
               "p.bin", cwd=folder)
    if done.returncode:
        raise SystemExit(f"compile: {done.stderr}")
    done = run(fsdp_run, "-q", "--threads", "1", "--load", "hub", "--log", "log", "--dump-grads",
               "0=g.safetensors", "p.bin", cwd=folder)
    if done.returncode:
        raise SystemExit(f"fsdp-run: {done.stderr}")
    step = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    step = [e for e in step if e["event"] == "step"][0]
    return step["loss"], step["grad_norm"]


# ---- Transformers

def logits_and_targets(model, family):
    import torch
    fields = fields_of(family)
    if not fields:
        ids = torch.tensor([list(TEXT[LENGTH * i:LENGTH * i + LENGTH + 1]) for i in range(BATCH)])
        return model(ids[:, :-1]).logits, ids[:, 1:]
    at = {name: torch.tensor(table) for name, table in fields.items()}
    if family == "t5":
        return model(input_ids=at["source"], decoder_input_ids=at["target"]).logits, at["labels"]
    return model(input_ids=at["inputs"], token_type_ids=at["segments"],
                 attention_mask=at["mask"]).logits, at["labels"]


def theirs(folder, family, dtype="float64"):
    import torch
    import transformers
    config = transformers.AutoConfig.from_pretrained(folder / "hub")
    kind = getattr(transformers, config.architectures[0])
    model, info = kind.from_pretrained(folder / "hub", dtype=getattr(torch, dtype),
                                       attn_implementation="eager", output_loading_info=True,
                                       experts_implementation="eager")
    if any(info.values()):
        raise SystemExit(f"{folder}: {info}")
    model.train(False)
    logits, targets = logits_and_targets(model, family)
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                             targets.reshape(-1))
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters() if p.grad is not None))
    return loss.item(), norm.item(), {n: p.grad for n, p in model.named_parameters()
                                      if p.grad is not None}


def gradient_error(folder, gradients, norm):
    """The distance of our gradients to theirs, over those that have one name in both, / norm."""
    from safetensors.torch import load_file
    mine = load_file(folder / "g.safetensors")
    shared = [n for n in mine if n in gradients and gradients[n].shape == mine[n].shape]
    total = sum(((mine[n].double() - gradients[n]) ** 2).sum().item() for n in shared)
    return math.sqrt(total) / norm, len(shared), len(mine)


def float32_error(folder, family, gradients, norm):
    """How far Transformers itself is off in float32: some random models amplify rounding."""
    rough = theirs(folder, family, "float32")[2]
    return math.sqrt(sum(((rough[n].double() - g) ** 2).sum().item()
                         for n, g in gradients.items())) / norm


# ---- random configs

def rope(r, kinds=("default",), theta=True):
    kind = r.choice(kinds)
    out = {"rope_type": kind, "rope_theta": r.choice([1e4, 5e5, 1e6, 777.5]) if theta else 1e4}
    if kind != "default":
        out["factor"] = r.choice([2.0, 8.0, 3.5])
    if kind == "llama3":
        out |= {"low_freq_factor": 1.0, "high_freq_factor": r.choice([4.0, 2.0]),
                "original_max_position_embeddings": r.choice([16, 64, 8192])}
    if kind == "yarn":
        out |= {"original_max_position_embeddings": r.choice([16, 64, 4096])}
    return out


def heads(r, even=2):
    kv = r.choice([1, 2, 4])
    h = kv * r.choice([1, 2])
    return h, kv, r.choice([8, 16])


ACTS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "quick_gelu", "relu2", "swish"]


def common(r):
    h, kv, hd = heads(r)
    return {"vocab_size": r.choice([64, 97, 130]), "hidden_size": h * hd,
            "num_hidden_layers": r.choice([1, 2, 3]), "num_attention_heads": h,
            "num_key_value_heads": kv, "intermediate_size": r.choice([48, 80]),
            "max_position_embeddings": r.choice([24, 64]), "bos_token_id": None,
            "eos_token_id": None, "pad_token_id": None, "hidden_act": r.choice(ACTS)}


ROPES = ("default", "default", "linear", "llama3", "yarn", "dynamic")


def eps(r):
    return r.choice([1e-6, 1e-5, 1e-3])


def llama(r):
    return common(r) | {"head_dim": r.choice([None, 8, 12]), "rms_norm_eps": eps(r),
                        "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.3,
                        "tie_word_embeddings": r.random() < 0.5,
                        "rope_parameters": rope(r, ROPES)}


def windowed(r):
    """sliding_window and the like of Qwen."""
    use = r.random() < 0.5
    return {"use_sliding_window": use, "sliding_window": r.choice([4, 12, 64]) if use else None,
            "max_window_layers": r.choice([0, 1, 28])}


def mistral(r):
    return common(r) | {"head_dim": r.choice([None, 8, 12]), "rms_norm_eps": eps(r),
                        "sliding_window": r.choice([None, 3, 12, 4096]),
                        "tie_word_embeddings": r.random() < 0.5, "rope_parameters": rope(r, ROPES)}


def qwen2(r):
    return common(r) | windowed(r) | {"rms_norm_eps": eps(r), "rope_parameters": rope(r, ROPES),
                                      "tie_word_embeddings": r.random() < 0.5}


def qwen3(r):
    return qwen2(r) | {"head_dim": r.choice([8, 12]), "attention_bias": r.random() < 0.5}


def gemma(r):
    return common(r) | {"head_dim": r.choice([8, 12]), "rms_norm_eps": eps(r),
                        "attention_bias": r.random() < 0.5, "rope_parameters": rope(r, ROPES),
                        "tie_word_embeddings": r.random() < 0.7}


def gpt2(r):
    h = r.choice([1, 2, 4])
    return {"vocab_size": r.choice([64, 97]), "n_embd": h * r.choice([8, 16]), "n_head": h,
            "n_layer": r.choice([1, 2, 3]), "n_positions": r.choice([24, 64]),
            "n_inner": r.choice([None, 40]), "activation_function": r.choice(ACTS),
            "layer_norm_epsilon": eps(r), "scale_attn_weights": r.random() < 0.8,
            "scale_attn_by_inverse_layer_idx": r.random() < 0.3,
            "tie_word_embeddings": r.random() < 0.7, "bos_token_id": None, "eos_token_id": None}


def tied(r, share=0.5):
    return {"tie_word_embeddings": r.random() < share}


PARTIAL_ROPES = ("default", "default", "linear", "llama3", "yarn")


def partial(r, *shares):
    return {"rope_parameters": rope(r, PARTIAL_ROPES) | {"partial_rotary_factor": r.choice(shares)}}


def gemma2(r):
    layers = r.choice([1, 2, 3])
    kinds = r.choice([None, [r.choice(["full_attention", "sliding_attention"])
                             for _ in range(layers)]])
    out = gemma(r) | {"num_hidden_layers": layers, "layer_types": kinds,
                      "hidden_activation": r.choice(ACTS),
                      "query_pre_attn_scalar": r.choice([8, 16, 50]),
                      "attn_logit_softcapping": r.choice([50.0, 2.0]),
                      "final_logit_softcapping": r.choice([None, 30.0, 1.5]),
                      "sliding_window": r.choice([4, 16, 4096])}
    out.pop("hidden_act")
    return out


def gptj(r):
    out = gpt2(r)
    for key in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx"):
        out.pop(key)
    return out | {"rotary_dim": r.choice([4, 8])} | tied(r, 0.3)


def granite(r):
    return common(r) | tied(r) | {
        "rms_norm_eps": eps(r), "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.3,
        "embedding_multiplier": r.choice([1.0, 12.0]), "residual_multiplier": r.choice([1.0, 0.22]),
        "attention_multiplier": r.choice([1.0, 0.25, 0.015625]), "rope_parameters": rope(r, ROPES),
        "logits_scaling": r.choice([1.0, 8.0])}


def phi(r):
    return common(r) | tied(r, 0.3) | partial(r, 0.5, 0.25, 1.0) | {
        "layer_norm_eps": eps(r), "qk_layernorm": r.random() < 0.4}


def phi3(r):
    return common(r) | tied(r, 0.3) | {
        "rms_norm_eps": eps(r), "sliding_window": r.choice([None, 5, 4096]),
        "rope_parameters": rope(r) | {"partial_rotary_factor": r.choice([1.0, 0.5])}}


def gpt_neox(r):
    out = common(r) | tied(r, 0.3) | partial(r, 0.25, 0.5, 1.0) | {
        "layer_norm_eps": eps(r), "attention_bias": r.random() < 0.7,
        "use_parallel_residual": r.random() < 0.6}
    out.pop("num_key_value_heads")
    return out


def stablelm(r):
    return common(r) | tied(r, 0.3) | partial(r, 0.25, 0.5, 1.0) | {
        "layer_norm_eps": eps(r), "use_qkv_bias": r.random() < 0.5,
        "qk_layernorm": r.random() < 0.1, "use_parallel_residual": r.random() < 0.5}


def starcoder2(r):
    return common(r) | tied(r) | {"norm_epsilon": eps(r), "use_bias": r.random() < 0.7,
                                  "sliding_window": r.choice([None, 7, 4096]),
                                  "rope_parameters": rope(r, ROPES)}


def olmo(r):
    return common(r) | tied(r) | {"attention_bias": r.random() < 0.3,
                                  "clip_qkv": r.choice([None, None, 0.5, 8.0]),
                                  "rope_parameters": rope(r, ROPES)}


def cohere(r):
    return common(r) | tied(r, 0.8) | {
        "layer_norm_eps": eps(r), "logit_scale": r.choice([0.0625, 1.0]),
        "attention_bias": r.random() < 0.3, "use_qk_norm": r.random() < 0.1,
        "rope_parameters": rope(r, ("default",) * 5 + ("linear",))}


def mixtral(r):
    return mistral(r) | {"num_local_experts": r.choice([2, 4]), "num_experts_per_tok": 2}


def falcon(r):
    out = common(r) | tied(r, 0.7) | {
        "layer_norm_epsilon": eps(r), "bias": r.random() < 0.3, "multi_query": True,
        "parallel_attn": r.random() < 0.9, "alibi": r.random() < 0.1,
        "new_decoder_architecture": r.random() < 0.1, "rope_parameters": rope(r, ROPES),
        "activation": r.choice(ACTS), "ffn_hidden_size": r.choice([40, 64])}
    for key in ("num_key_value_heads", "intermediate_size", "hidden_act"):
        out.pop(key)
    return out


def bloom(r):
    h = r.choice([1, 2, 4, 8])
    return {"vocab_size": r.choice([64, 97]), "hidden_size": h * 8, "n_head": h,
            "n_layer": r.choice([1, 2]), "layer_norm_epsilon": eps(r), "bos_token_id": None,
            "apply_residual_connection_post_layernorm": r.random() < 0.1, "eos_token_id": None,
            "hidden_dropout": 0.0, "attention_dropout": 0.0} | tied(r, 0.8)


def gpt_oss(r):
    out = gemma2(r)
    for key in ("hidden_activation", "query_pre_attn_scalar", "attn_logit_softcapping",
                "final_logit_softcapping"):
        out.pop(key)
    yarn = rope(r, ("yarn",)) | {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    return out | {"num_local_experts": r.choice([2, 4]), "num_experts_per_tok": 2,
                  "swiglu_limit": r.choice([7.0, 0.5]), "attention_bias": True,
                  "rope_parameters": r.choice([yarn, rope(r)])}


def deepseek_v2(r):
    out = common(r) | {
        "num_key_value_heads": None, "first_k_dense_replace": r.choice([0, 1]),
        "n_routed_experts": 4, "n_shared_experts": r.choice([1, 2]), "num_experts_per_tok": 2,
        "moe_intermediate_size": 24, "kv_lora_rank": r.choice([16, 24]), "rms_norm_eps": eps(r),
        "q_lora_rank": r.choice([None, 16]), "qk_nope_head_dim": r.choice([8, 16]),
        "qk_rope_head_dim": r.choice([4, 8]), "v_head_dim": r.choice([8, 16]),
        "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.2,
        "routed_scaling_factor": r.choice([1.0, 2.5]), "rope_parameters": rope(r)}
    return out | {"num_key_value_heads": out["num_attention_heads"]} | tied(r, 0.2)


def bert(r):
    out = common(r) | {"layer_norm_eps": r.choice([1e-12, 1e-5]), "hidden_dropout_prob": 0.0,
                       "type_vocab_size": r.choice([2, 3]), "pad_token_id": None}
    out.pop("num_key_value_heads")
    return out


def albert(r):
    return bert(r) | {"embedding_size": r.choice([8, 16]), "inner_group_num": 1,
                      "num_hidden_groups": 1 + (r.random() < 0.1),
                      "attention_probs_dropout_prob": 0.0}


def t5(r):
    h = r.choice([1, 2, 4])
    return {"vocab_size": r.choice([64, 97]), "d_model": h * r.choice([8, 16]), "num_heads": h,
            "d_kv": r.choice([8, 12]), "d_ff": r.choice([40, 64]), "num_layers": r.choice([1, 2]),
            "num_decoder_layers": r.choice([1, 2]), "layer_norm_epsilon": eps(r),
            "relative_attention_num_buckets": r.choice([8, 32]),
            "relative_attention_max_distance": r.choice([20, 128]), "dropout_rate": 0.0,
            "feed_forward_proj": r.choice(["relu", "relu", "relu", "gated-gelu"])}


FAMILIES = {
    "albert": ("AlbertForMaskedLM", albert),
    "bert": ("BertForMaskedLM", bert),
    "bloom": ("BloomForCausalLM", bloom),
    "cohere": ("CohereForCausalLM", cohere),
    "deepseek_v2": ("DeepseekV2ForCausalLM", deepseek_v2),
    "falcon": ("FalconForCausalLM", falcon),
    "gemma": ("GemmaForCausalLM", gemma),
    "gemma2": ("Gemma2ForCausalLM", gemma2),
    "gpt2": ("GPT2LMHeadModel", gpt2),
    "gpt_neox": ("GPTNeoXForCausalLM", gpt_neox),
    "gpt_oss": ("GptOssForCausalLM", gpt_oss),
    "gptj": ("GPTJForCausalLM", gptj),
    "granite": ("GraniteForCausalLM", granite),
    "llama": ("LlamaForCausalLM", llama),
    "mistral": ("MistralForCausalLM", mistral),
    "mixtral": ("MixtralForCausalLM", mixtral),
    "olmo": ("OlmoForCausalLM", olmo),
    "phi": ("PhiForCausalLM", phi),
    "phi3": ("Phi3ForCausalLM", phi3),
    "qwen2": ("Qwen2ForCausalLM", qwen2),
    "qwen3": ("Qwen3ForCausalLM", qwen3),
    "t5": ("T5ForConditionalGeneration", t5),
    "stablelm": ("StableLmForCausalLM", stablelm),
    "starcoder2": ("Starcoder2ForCausalLM", starcoder2),
}


def make(family, seed):
    """The keywords of a random config."""
    r = random.Random(f"{family} {seed}")
    config = FAMILIES[family][1](r)
    return {k: v for k, v in config.items()
            if v is not None or k.endswith("_id") or r.random() < 0.5}


def write_case(folder, family, config):
    import transformers
    kind = getattr(transformers, FAMILIES[family][0])
    model = kind(kind.config_class(**config))
    model.save_pretrained(folder / "hub")
    weights = folder / "hub" / "model.safetensors"
    shapes = header_of(weights)
    write_weights(weights, shapes)
    return shapes


def run_case(fsdpc, fsdp_run, family, seed):
    """One line about the case, and whether it is right; for record: the case, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            shapes = write_case(folder, family, make(family, seed))
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            return f"{family} {seed}: Transformers itself refuses it: {error!r:.100}", True, None
        text = (folder / "hub" / "config.json").read_text()
        try:
            loss, norm = ours(fsdpc, fsdp_run, folder, family)
        except Refused as refused:
            case = {"family": family, "seed": seed, "config": json.loads(text),
                    "refused": str(refused)}
            return f"{family} {seed}: refused {refused}", "WITHOUT" not in str(refused), case
        except SystemExit as error:
            return f"{family} {seed}: {error}\n{text}", False, None
        want, their_norm, gradients = theirs(folder, family)
        off, n, of = gradient_error(folder, gradients, their_norm)
        d, dn = abs(loss / want - 1), abs(norm / their_norm - 1)
        limit = GRADIENT
        if off >= limit:
            limit = float32_error(folder, family, gradients, their_norm)
        good = d < LOSS and dn < GRADIENT and off < limit and n > 0
        case = {"family": family, "seed": seed, "config": json.loads(text), "shapes": shapes,
                "loss": want, "norm": their_norm}
        line = (f"{family} {seed}: loss {want:.6f} off {d:.1e}, norm {their_norm:.4f} off "
                f"{dn:.1e}, gradients of {n}/{of} off {off:.1e}")
        if limit != GRADIENT:
            line += f", Transformers in float32 {limit:.1e}"
        return line if good else f"{line} WRONG\n{text}", good, case


def check(fsdpc, fsdp_run, first, count, *families):
    import torch
    torch.set_num_threads(1)
    families = families or sorted(FAMILIES)
    wrong = refused = 0
    for i in range(int(first), int(first) + int(count)):
        line, good, case = run_case(fsdpc, fsdp_run, families[i % len(families)], i)
        wrong += not good
        refused += bool(case and "refused" in case)
        print(line, flush=True)
    print(f"{count} cases, {refused} refused, {wrong} wrong")
    return wrong > 0


def record(fsdpc, fsdp_run, count, file):
    cases = []
    for i in range(int(count)):
        family = sorted(FAMILIES)[i % len(FAMILIES)]
        line, good, case = run_case(fsdpc, fsdp_run, family, 100000 + i)
        print(line, flush=True)
        if not good:
            return 1
        if case:
            case["config"].pop("transformers_version", None)
            cases.append(case)
    pathlib.Path(file).write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    return 0


def replay(fsdpc, fsdp_run, file, first="0", count="1000000"):
    cases = json.loads(pathlib.Path(file).read_text())[int(first):int(first) + int(count)]
    wrong = refused = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "hub").mkdir()
            (folder / "hub" / "config.json").write_text(json.dumps(case["config"]))
            if "shapes" in case:
                write_weights(folder / "hub" / "model.safetensors", case["shapes"])
            try:
                loss, norm = ours(fsdpc, fsdp_run, folder, case["family"])
                good = ("loss" in case and abs(loss / case["loss"] - 1) < LOSS
                        and abs(norm / case["norm"] - 1) < GRADIENT)
                if not good:
                    print(case["family"], case["seed"], loss, norm, case.get("loss"),
                          case.get("norm"))
            except Refused as error:
                good = str(error) == case.get("refused")
                refused += 1
                if not good:
                    print(case["family"], case["seed"], "refused", error)
            wrong += not good
    print(f"{len(cases)} cases, {refused} refused, {wrong} wrong")
    return wrong > 0


def main():
    what, fsdpc, fsdp_run, *rest = sys.argv[1:]
    fsdpc, fsdp_run = (pathlib.Path(p).resolve() for p in (fsdpc, fsdp_run))
    sys.exit({"check": check, "record": record, "replay": replay}[what](fsdpc, fsdp_run, *rest))


if __name__ == "__main__":
    main()

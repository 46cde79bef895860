"""What import takes where config.json lacks a key, against the class in Transformers.

    absent_keys.py FSDPC FSDP_RUN [FAMILY..]    needs transformers

Removes one key after the other from the config.json that --save writes for a random config of each
family. What is imported then and saved again must have the value that AutoConfig has, unless the
import needs the key. Prints each difference; the known ones are other words for one value.
"""
import json
import pathlib
import sys
import tempfile

from hf_cases import run
from random_configs import FAMILIES, make

OTHER = {"n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers",
         "n_positions": "max_position_embeddings"}
ROPE = {"rope_theta": "rope_theta", "rotary_emb_base": "rope_theta",
        "partial_rotary_factor": "partial_rotary_factor", "rotary_pct": "partial_rotary_factor"}
NEVER = {"model_type", "architectures", "torch_dtype"}  # there in each file, or of no effect


def saved(fsdpc, fsdp_run, folder, config):
    """The config.json of the model that was imported; None if the import refuses the config."""
    (folder / "config.json").write_text(json.dumps(config))
    if run(fsdpc, "import", "-q", "config.json", "-o", "m.fsd", cwd=folder).returncode:
        return None
    for command in ((fsdpc, "compile", "-q", "m.fsd", "-s", "train.batch=1", "-s", "train.steps=1",
                     "-s", "train.schedule=none", "-o", "p"),
                    (fsdp_run, "-q", "--steps", "0", "--save", "out/", "p")):
        done = run(*command, cwd=folder)
        if done.returncode:
            raise SystemExit(done.stderr)
    return json.loads((folder / "out" / "config.json").read_text())


def theirs(folder, key):
    """The value that Transformers takes; KeyError: no attribute of the class has this name."""
    import transformers
    config = transformers.AutoConfig.from_pretrained(folder)
    every = config.to_dict()
    rope = every.get("rope_parameters") or {}
    if key == "num_labels":
        return config.num_labels
    if key == "rope_scaling":
        return None if rope.get("rope_type") == "default" else rope
    if key in ("global_rope_theta", "local_rope_theta"):
        kind = "full_attention" if key.startswith("global") else "sliding_attention"
        return rope[kind]["rope_theta"]
    return rope[ROPE[key]] if key in ROPE else every[OTHER.get(key, key)]


def compare(fsdpc, fsdp_run, family, folder):
    import transformers
    kind = getattr(transformers, FAMILIES[family][0]).config_class
    for seed in range(30):
        try:
            config = json.loads(kind(**make(family, seed)).to_json_string())
        except Exception:  # of whatever kind: the class refuses the config
            continue
        base = saved(fsdpc, fsdp_run, folder, config | {"architectures": [FAMILIES[family][0]]})
        if base:
            break
    compared = 0
    for key in sorted(set(base) - NEVER):
        ours = saved(fsdpc, fsdp_run, folder, {k: v for k, v in base.items() if k != key})
        if not ours:
            continue
        try:
            value = theirs(folder, key)
        except KeyError:
            continue
        compared += 1
        if value != ours[key]:
            print(f"{family}: {key} is {value} in Transformers, {ours[key]} here", flush=True)
    return compared


def main():
    fsdpc, fsdp_run = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    compared = 0
    for family in sys.argv[3:] or sorted(FAMILIES):
        with tempfile.TemporaryDirectory() as folder:
            compared += compare(fsdpc, fsdp_run, family, pathlib.Path(folder))
    print(compared, "keys compared")


if __name__ == "__main__":
    main()

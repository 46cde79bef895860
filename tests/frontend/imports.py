#!/usr/bin/env python3
"""Tests every row of imports.def with a file that has its key with such a value: it becomes these
settings, has no effect for that reason, or is rejected with that remedy.

    imports.py FSDPC ROOT

The result of each value is written to imports.txt in the working folder, which is compared with
tests/frontend/imports.txt; if a row changes on purpose, copy it there.
"""
import ast
import json
import re
import subprocess
import sys

CLASSES = "fsdp_config.fsdp_transformer_layer_cls_to_wrap"
ZERO = "zero_optimization."
# What a row may need besides its own condition, so that no row before it fits.
BESIDES = [{}, {CLASSES: "Block", "fsdp_config.fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP"},
           {"fsdp_config.fsdp_min_num_params": "5"}, {"fp16.enabled": "true"},
           {ZERO + "stage": "3", ZERO + "offload_param.device": "cpu"},
           {ZERO + "offload_optimizer.device": "cpu"}, {"optimizer.params.weight_decay": "0.1"},
           {"scheduler.type": "auto"}, {"distributed_type": "NO"}]

# What a value needs to be one at all.
WITH = {"optimizer.params.nesterov": {"optimizer.params.momentum": "0.9"}}

# What 3 and "other" cannot be.
ODD = {"optimizer.params.betas": "0.8, 0.9", "optimizer.params.momentum": "0"}


def rows_of(root):
    command = ["gcc", "-E", "-P", "-x", "c", "-DFORMAT(a,b,c)=",
               "-DIMPORT(f,k,w,v,a,t)=(#f, k, w, v, #a, t),", "-I" + root + "/ir/ops",
               root + "/frontend/import/imports.def"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return ast.literal_eval("[" + text + "]")


def fits(values, value):
    def one(v):
        if v == "#":
            return value.lstrip("-").isdigit()
        return v == "*" or v.lower() == value.lower()
    return any(one(v) for v in values.split("|"))


def first_row(rows, row, key, keys):
    for other in rows:
        pattern = other[1]
        named = key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern
        if other[0] != row[0] or not named:
            continue
        when = other[2].partition("=")
        if when[1] and not fits(when[2], keys.get(when[0], "null")):
            continue
        if fits(other[3], keys[key]):
            return other
    return None


def files_for(rows, row):
    """The row's key, and keys of a file in which the row is the first that fits it: one file for
    each word of its values, and for each of its condition."""
    key = row[1][:-1] + "x" if row[1].endswith("*") else row[1]
    names = [key] + [k for b in BESIDES for k in b if row[1].endswith("*")]
    when, _, values = row[2].partition("=")
    for word in row[3].split("|"):
        for value_when in values.replace("#", "8").split("|"):
            yield file_for(rows, row, names, word, (when, value_when))


def file_for(rows, row, names, word, condition):
    when, value_when = condition
    for name in names:
        for besides in BESIDES + [{row[1].partition(".")[0] + ".enabled": "true"}]:
            value = ODD.get(name) or {"#": "3", "*": "other"}.get(word, word)
            keys = {**besides, **WITH.get(name, {}), name: value}
            if "offload_param" in row[2]:  # of stage 3 alone
                keys[ZERO + "stage"] = "3"
            if when and when not in besides and value_when != "null":
                keys = {when: value_when, **keys}
            if first_row(rows, row, name, keys) is row:
                return name, keys
    return None


def filled(text, key, keys):
    text = re.sub(r"\$\{([^:]*):([^}]*)\}", lambda m: keys.get(m[1], m[2]), text)
    return text.replace("$", keys[key])


def nested(keys):
    out = {}
    for key, value in keys.items():
        at = out
        for part in key.split(".")[:-1]:
            at = at.setdefault(part, {})
        word = {"true": True, "false": False, "null": None}.get(value.lower(), value)
        at[key.split(".")[-1]] = int(value) if value.lstrip("-").isdigit() else word
    return out


def right(fsdpc, row, key, keys):
    with open("f", "w", encoding="utf-8") as f:
        json.dump(nested(keys), f, indent=1)
    command = [fsdpc, "dump", "--stage=config", "--format=json", "m.fsd"]
    command += ["--" + row[0].lower(), "f"]
    command += ["--mesh", "dp=6"] if "shard.reshard = $" in row[5] else []  # 3 divides it
    done = subprocess.run(command, capture_output=True, text=True)
    if row[4] == "REFUSES":
        said = [f"fsdpc does not support {key} = {keys[key]}", filled(row[5], key, keys)]
        return done.returncode == 1 and all(text in done.stderr for text in said)
    if done.returncode:
        return False
    config = json.loads(done.stdout)
    entry = config["f"][key]
    if row[4] == "IDLE":
        return entry.get("idle") in (row[5], "it is empty")
    if row[4] == "PART":
        return entry.get("became") == row[5]
    if row[4] == "MICRO":
        return (entry.get("became") == filled(row[5], key, keys)
                and config["train"]["batch"]["from"].startswith("f:"))
    if "${" not in row[5] and entry["became"] != row[5].replace("$", keys[key]):
        return False
    for setting in entry["became"].split("; "):
        section, name = setting.split(" = ")[0].split(".")[:2]
        if not config[section][name]["from"].startswith("f:"):
            return False
    return True


def line_of(row, key, keys, condition):
    with_it = f" where {condition} is {keys[condition]}" if keys.get(condition) else ""
    became = {"SETS": row[5], "MICRO": row[5], "PART": "is part of another key",
              "IDLE": "means nothing",
              "REFUSES": "is refused"}[row[4]]
    return f"{row[0].lower()} {key} {keys[key]}{with_it}: {became}"


def main():
    fsdpc, root = sys.argv[1:3]
    with open("m.fsd", "w", encoding="utf-8") as f:
        f.write("shard { }\n")
    rows, wrong, lines = rows_of(root), 0, []
    for row in rows:
        reached = 0
        for found in files_for(rows, row):
            reached += found is not None
            if found and not right(fsdpc, row, *found):
                wrong += 1
                print("wrong:", row, found[1])
            if found:
                lines.append(line_of(row, *found, row[2].partition("=")[0]))
        if not reached:
            wrong += 1
            print("no file reaches:", row)
    with open("imports.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{len({(r[0], r[1]) for r in rows})} keys, {wrong} rows are wrong")
    return wrong != 0


sys.exit(main())

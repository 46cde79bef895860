"""Machine files by docs/machine.schema.json: bad_machines.py FSDPC SCHEMA FOLDER MODEL. Builds a
file with everything that the schema allows, which fsdpc must take, and from it one file for each
way in which a file can break the schema, which fsdpc must refuse with exit code 3 and the path of
the fault. The files of FOLDER must be right, and machine.def must have the schema's constants."""
import copy
import glob
import json
import re
import subprocess
import sys

fsdpc, schema_file, folder, model = sys.argv[1:]
with open(schema_file, encoding="utf-8") as f:
    schema = json.load(f)
counts = {"refused": 0}


def read(text):
    with open("one.machine", "w", encoding="utf-8") as out:
        out.write(text)
    done = subprocess.run([fsdpc, "fit", model, "--memory", "1GiB", "--outside", "1MB", "--machine",
                           "one.machine"], capture_output=True, text=True)
    return done.returncode, done.stderr


def node_of(spec):
    return schema["$defs"][spec["$ref"].split("/")[-1]] if "$ref" in spec else spec


def words_of(spec):
    """Names of members that share additionalProperties; an op stands for all ops."""
    names = spec.get("propertyNames", {})
    return names["anyOf"][0]["enum"] + ["gelu"] if "anyOf" in names else names.get("enum", [])


def example(spec):
    spec = node_of(spec)
    if "const" in spec or "enum" in spec:
        return spec["const"] if "const" in spec else spec["enum"][0]
    if "prefixItems" in spec:
        return [example({**pair, "type": "small"}) for pair in spec["prefixItems"]]
    if spec["type"] == "object":
        values = {k: example(v) for k, v in spec.get("properties", {}).items()}
        for word in words_of(spec):
            values[word] = example(spec["additionalProperties"])
        return values
    if spec["type"] == "array":
        return [example(spec["items"]), next_item(example(spec["items"]))]
    return {"string": "assumed", "number": 1.5, "integer": 2, "small": 0.5}[spec["type"]]


def next_item(item):
    """The same, greater by its key, or by the first number of a pair."""
    if isinstance(item, list):
        return [item[0] + 2, *item[1:]]
    return {k: v + 2 if isinstance(v, int) else v for k, v in item.items()}


def refuse(whole, path, change, told):
    """Applies change to the container of the last name of path; expects the path `told`."""
    changed = copy.deepcopy(whole)
    at = changed
    for name in path[:-1]:
        at = at[name]
    change(at, path[-1])
    code, said = read(json.dumps(changed))
    counts["refused"] += 1
    if code != 3 or f"one.machine: {told}" not in said:
        print(f"{told}: exit {code}: {said.strip()}")


def path_text(path):
    text = ""
    for name in path:
        text += f"[{name}]" if isinstance(name, int) else f"{'.' if text else ''}{name}"
    return text


def put(value):
    def change(at, name):
        at[name] = value
    return change


def drop(at, name):
    del at[name]


def faults(spec, path, whole):
    spec = node_of(spec)
    if path:
        wrong = [None, [], "x"] if spec.get("type") != "array" else [None, {}, "x"]
        if "enum" in spec:
            wrong = [None, [], "x", 1]
        if spec.get("type") == "string":
            wrong = [None, [], "", 1]
        for value in wrong:
            refuse(whole, path, put(value), path_text(path))
    if "minimum" in spec:
        beyond = spec.get("maximum", 1e18) * 1.01
        below = spec["minimum"] - 0.25 if spec["minimum"] != 0.001 else 0.0009
        for value in (-1, below, beyond, float("nan"), float("inf")):
            finite = value == value and abs(value) != float("inf")
            refuse(whole, path, put(value), path_text(path) if finite else "not JSON")
    if spec.get("type") == "object":
        for name in spec.get("required", []):
            refuse(whole, path + [name], drop, path_text(path + [name]))
        refuse(whole, path + ["formatt"], put({}), path_text(path) or "there is no")
        named = dict(spec.get("properties", {}))
        for word in words_of(spec):
            named[word] = spec["additionalProperties"]
        for name, below in named.items():
            faults(below, path + [name], whole)
    if spec.get("minItems"):
        refuse(whole, path, put([]), path_text(path))
    if "prefixItems" in spec:
        refuse(whole, path, put([1, 1, 1]), path_text(path))
        for i, item in enumerate(spec["prefixItems"]):
            faults(item, path + [i], whole)
    elif spec.get("type") == "array":
        faults(spec["items"], path + [1], whole)


full = example(schema)
code, said = read(json.dumps(full))
print("the whole schema is taken" if code == 0 else said)
faults(schema, [], full)
print("more than 900 files are refused" if counts["refused"] > 900 else counts)
refuse(full, ["format"], put(2), "format: 2 is newer than 1")
refuse(full, ["links", 1, "ranks"], put(2), "links[1].ranks")
refuse(full, ["fabric", 1, "ramp", "value", 1, 0], put(0.5), "fabric[1].ramp.value[1]")
for text in ("", "[]", "{", '{"format": 1, "format": 1}', json.dumps(full)[:-9]):
    if read(text)[0] != 3:
        print(f"accepted: {text[:40]}")
for name in sorted(glob.glob(f"{folder}/*.machine")):
    with open(name, encoding="utf-8") as f:
        code, said = read(f.read())
    print(f"{name.rsplit('/', 1)[1]}: {'right' if code == 0 else said}")
with open(schema_file.replace("docs/machine.schema.json", "foresight/machine/machine.def"),
          encoding="utf-8") as f:
    rows = set(re.findall(r"^(?:CONSTANT|CURVE)\((\w+), (\w+),", f.read(), re.M))
listed = set()
for group, spec in schema["properties"].items():
    spec = spec.get("items", spec)
    spec = spec["additionalProperties"] if spec.get("propertyNames") else spec
    listed |= {(group, key) for key, of in spec.get("properties", {}).items() if "$ref" in of}
print("machine.def has the same constants" if rows == listed else rows ^ listed)

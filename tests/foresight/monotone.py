"""A step without collectives takes no less time on a machine that is worse in one constant:
monotone.py FSDPC MACHINE.. PLAN. Each constant of the machines is made worse by a tenth, except
device.cores, which is neither: flops_s is the rate of all cores together."""
import json
import subprocess
import sys

fsdpc, *machines, plan = sys.argv[1:]
LESS = ("flops_s", "bytes_s", "sustained")  # of which less is worse


def step(machine):
    with open("one.machine", "w", encoding="utf-8") as f:
        json.dump(machine, f)
    done = subprocess.run([fsdpc, "dump", "--format=json", "--machine", "one.machine", plan],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["predicted"]["step_ms"]


def constants(part, path=""):
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict) and "from" in value:
            if not isinstance(value["value"], list):
                yield f"{path}{key}", value
        elif isinstance(value, (dict, list)):
            yield from constants(value, f"{path}{key}.")


for name in machines:
    with open(name, encoding="utf-8") as f:
        machine = json.load(f)
    base, changed, all_of_them = step(machine), 0, 0
    for path, constant in constants(machine):
        if path == "device.cores":
            continue
        value = constant["value"]
        worse = 1 / 1.1 if path.endswith(LESS) else 1.1
        constant["value"] = value * worse
        now = step(machine)
        constant["value"] = value
        all_of_them += 1
        changed += now > base
        if now < base:
            print(f"{path}: {base} ms, and {now} ms where it is worse")
    print(f"{name.rsplit('/', 1)[-1]}: no constant that is worse makes the step faster; "
          f"{'some make' if 0 < changed < all_of_them else f'{changed} make'} it slower")

#!/usr/bin/env python3
"""Plants the single faults of shared_faults.txt and says what sees each: a proof or a test.

    tests/mutation/shared_faults.py [--only TEXT]... [--write]
      --only TEXT   only faults whose entry contains TEXT
      --proofs      without tests
      --list        prints the table, once each entry has its lines; plants nothing
      --write       writes what saw each fault into shared_faults.txt

The faults are in passes, in the emitter, and in what both share with the checker: functions and
tables of ir/ and plan.h. Such a fault could deceive producer and checker alike, so each must be
refused by a proof or fail a test that names it. Works like tests/mutation/plant, on a copy of the
checkout in build/mutation/tree. For each fault fsdpc compiles the models of
tests/backend/mutate_plans.c and a few more, until it refuses one; the verifier of a pass, the
reader and a failed CHECK count as proofs. A fault whose plans are all accepted meets the tests of
its room. Exit code 1 when one survived, or when lines of an entry are gone.
"""
import argparse
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "shared_faults.txt")
MISTAKE = 1  # the exit code where fsdpc finds fault with the model file
MORE = [  # (model, ranks, settings), in addition to those of mutate_plans.c
    ("tests/backend/models/every-gradient", 2, []),
    ("tests/backend/models/gradients", 2, ["train.precision=bf16(reduce = bf16)"]),
]


def load_plant():
    loader = importlib.machinery.SourceFileLoader("plant", os.path.join(HERE, "plant"))
    spec = importlib.util.spec_from_loader("plant", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


plant = load_plant()


class Fault:
    """An entry of the table: where, which lines become which, what for, and who saw it."""

    def __init__(self, text):
        lines = text.split("\n")
        self.text, self.source = text, lines[0]
        self.before = [line[2:] for line in lines if line.startswith("- ")]
        self.after = [line[2:] for line in lines if line == "+" or line.startswith("+ ")]
        self.what, self.seen = lines[-2], lines[-1].removeprefix("seen:").strip()

    def changes(self):
        """As plant makes them: (source, line, before, after); the first line takes all of it."""
        with open(os.path.join(plant.ROOT, self.source), encoding="utf-8") as f:
            lines = f.read().split("\n")
        n, bare = len(self.before), [line.strip() for line in lines]
        at = [k for k in range(len(lines)) if bare[k:k + n] == self.before]
        if len(at) != 1:
            sys.exit(f"{self.source}: {len(at)} places read `{self.before[0]}`")
        texts = [" ".join(self.after)] + [""] * (n - 1)
        return [(self.source, at[0] + k + 1, lines[at[0] + k], texts[k]) for k in range(n)]


def faults_of_table():
    with open(TABLE, encoding="utf-8") as f:
        head, *entries = f.read().rstrip("\n").split("\n\n")
    return head, [Fault(entry) for entry in entries]


def plans():
    """(name, command line of fsdpc) of each case of mutate_plans.c, and of MORE."""
    path = os.path.join(plant.ROOT, "tests", "backend", "mutate_plans.c")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for name, value in re.findall(r"#define (\w+) +((?:.*\\\n)*.*)\n", text):
        text = re.sub(rf"(?<!=)\b{name}\b", lambda _, v=value: v.replace("\\\n", " "), text)
    case = r'\{"((?:[^"]|"\s*")*)",\s*"((?:[^"]|"\s*")*)",\s*(\d+),\s*\{([^{}]*)\}\}'
    for name, model, ranks, settings in re.findall(case, text[text.index("cases[] = {"):]):
        model = re.sub(r'"\s*"', "", model)
        path = model if "/" in model else f"models/{model}"
        settings = re.findall(r'"([^"]*)"', settings)
        words = ["-n", ranks] if ranks != "0" else []  # 0: the mesh says how many
        yield name, [f"{path}.fsd", *words, *[w for s in settings for w in ("-s", s)]]
    for model, ranks, settings in MORE:
        words = [w for s in settings for w in ([s] if s.startswith("--") else ["-s", s])]
        yield model, [f"{model}.fsd", "-n", str(ranks), *words]


def compile_plan(words):
    """The exit code of fsdpc and what it says."""
    out = os.path.join(plant.WORK, "plan.bin")
    try:
        done = subprocess.run([plant.FSDPC, "compile", "-q", "-o", out, *words], cwd=plant.TREE,
                              capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return -1, "does not end"
    return done.returncode, done.stderr


def refusal(good):
    """Which proof refuses one of the plans, or None."""
    for name, words in good:
        code, said = compile_plan(words)
        if code in (0, MISTAKE):
            continue
        rule = re.search(r"check-\w+|verify-\w+", said) or re.search(r"cannot be read[^\n]*", said)
        last = re.sub(r"(\.[ch]):\d+:", r"\1:", said.strip().split("\n")[-1])[:90]
        return f"{rule[0] if rule else last or f'exit code {code}'} ({name})"
    return None


def watch(fault, good, tests, proofs):
    """What sees the fault, or None."""
    with plant.planted(fault.changes()):
        if not plant.build([plant.FSDPC] if proofs else plant.PROGRAMS):
            return "cc"
        seen = refusal(good)
        if seen or proofs:
            return seen
        targets, parts = tests_for(fault.source)
        if not plant.build(targets):
            return "cc"
        tests.only_kernels("")
        for several in parts:
            in_order = sorted(tests.find(several, targets), key=lambda path: path.endswith(".t"))
            test = tests.first_failure(in_order)  # those in C first, which name what is wrong
            if test:
                return test
        return None


def tests_for(source):
    """What is built, and the tests in the order in which they run: those of its room first."""
    stem = os.path.splitext(source)[0]
    rooms = [room for room in plant.ROOMS if any(
        plant.fnmatch.fnmatch(stem + ".c", pattern) for pattern in room[0])]
    _, targets, parts = rooms[0]
    if not source.startswith("ir/"):
        return targets, [parts, ["checkpoint/"]]
    return targets + plant.KERNELS, [parts, plant.KERNELS, ["parity/", "checkpoint/"]]


def compile_quickly():
    """Without optimisation: a fault in a header compiles most of fsdpc anew."""
    path = os.path.join(plant.TREE, "build.ninja")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("cflags = $common -O2",
                             "cflags = $common -O0 -g0 -w -U_FORTIFY_SOURCE"))
    plant.build([plant.FSDPC])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--proofs", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    head, faults = faults_of_table()
    chosen = [f for f in faults if not options.only or any(t in f.text for t in options.only)]
    for fault in chosen:
        fault.changes()
    if options.list:
        print("".join(f"{f.source}: {f.what}\n    {f.seen}\n" for f in chosen), end="")
        return 0
    plant.copy_tree()
    if options.proofs:
        compile_quickly()
    good = [(name, words) for name, words in plans() if compile_plan(words)[0] == 0]
    print(f"{len(good)} plans are accepted without any change", flush=True)
    tests = plant.Tests()
    survived = 0
    for fault in chosen:
        seen = watch(fault, good, tests, options.proofs)
        survived += not seen
        fault.seen = seen or ""
        print(f"{fault.source}: {fault.what}\n    {seen or 'SURVIVED'}", flush=True)
        if options.write:
            texts = [re.sub(r"\nseen:.*$", f"\nseen: {f.seen}".rstrip(), f.text) for f in faults]
            with open(TABLE, "w", encoding="utf-8") as f:
                f.write("\n\n".join([head, *texts]) + "\n")
    seen_by = {f.seen.split(" ")[0] for f in chosen} - {""}
    in_c = [name for name in seen_by if name.startswith("build/")]
    plant.build(plant.PROGRAMS + plant.KERNELS + in_c)
    for test, late in tests.failures(tests.find([t for t in seen_by if "/" in t] or ["-"])):
        print(f"{test} fails without any change{late}")
    print(f"{len(chosen)} faults, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

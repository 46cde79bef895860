"""The file next to a plan that stores which algorithms of products were fastest, on the emulated
cuda device.

    tuned.py FSDPC FSDP_RUN BUILD FOLDER MODEL CASE

The emulated cuBLASLt offers several algorithms; the one that it times as the fastest adds in
another order than the first, so the losses show which one ran. CASE: kept, believed, ignored,
nowhere, turns, epilogues, bad."""
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time

fsdpc, fsdp_run, build, folder, model, case = sys.argv[1:]
plan, run = os.path.join(folder, "plan.bin"), os.path.join(folder, "fsdp-run")
tuned = plan + ".tuned"
shutil.copy(fsdp_run, run)
shutil.copy(os.path.join(build, "device_cpu.so"), folder)
shutil.copy(os.path.join(build, "tests/modules/device_cuda_emulated.so"),
            os.path.join(folder, "device_cuda.so"))
ranks = "2" if case == "kept" else "1"
subprocess.run([fsdpc, "compile", "-q", model, "-o", plan, "-n", ranks], check=True)
ALGORITHM = re.compile(r"(?<= )[0-9a-f]{16}(?: [0-9a-f]{16}){7}(?= )")


def start(path=plan, log="log", **settings):
    log = os.path.join(folder, log)
    command = [run, "--threads", "1", "--device", "cuda", "--log", log, path]
    env = {k: v for k, v in os.environ.items() if k != "FSDP_CUDA_TUNE"}
    return log, subprocess.Popen(command, env={**env, **settings}, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True,
                                 pass_fds=(3,) if case == "nowhere" else ())


def again(**settings):
    """Times everything anew; the losses."""
    return end(start(FSDP_CUDA_TUNE="again", **settings))[0]


def end(begun):
    """losses with norms of gradients, notes"""
    log, process = begun
    err = process.communicate()[1]
    if process.returncode:
        sys.exit(err)
    with open(log, encoding="utf-8") as f:
        losses = [(e["loss"], e["grad_norm"]) for e in map(json.loads, f) if e["event"] == "step"]
    return losses, [x for x in err.splitlines() if x.startswith("note:")]


def text():
    with open(tuned, encoding="utf-8") as f:
        return f.read()


def write(content, seal=True):
    """With a checksum that is right."""
    if seal:
        content = content[:content.index("checksum ")]
        h = 0xcbf29ce484222325
        for byte in content.encode():
            h = (h ^ byte) * 0x100000001b3 % 2**64
        content += f"checksum {h:016x}\n"
    with open(tuned, "w", encoding="utf-8") as f:
        f.write(content)


def with_first():
    """The file as it would be if the first algorithm were the fastest."""
    return ALGORITHM.sub(lambda m: " ".join([*m[0].split()[:4], "0" * 16, *m[0].split()[5:]]),
                         text())


def priced(epilogue, microseconds):
    """The file as it would be if every product with that epilogue had taken so long, and the same
    apart a microsecond."""
    lines = text().split("\n")
    of_kind = [i for i, x in enumerate(lines)
               if x.startswith("product ") and x.split()[13] == str(epilogue)]
    for i in of_kind:
        lines[i] = lines[i].rsplit(" ", 2)[0] + f" {microseconds:.2f} 1.00"
    return "\n".join(lines) if of_kind else sys.exit(f"no product has epilogue {epilogue}")


def expect(what, so):
    print(what if so else f"NOT: {what}")


plain = end(start(FSDP_CUDA_TUNE="0"))[0]
expect("nothing is written where nothing is tuned", not os.path.exists(tuned))
if case == "nowhere":
    os.dup2(os.open(plan, os.O_RDONLY), 3)
    losses, notes = end(start(path="/proc/self/fd/3"))
    expect("tuned all the same", losses != plain)
    expect("one note", len(notes) == 1 and "were not saved" in notes[0])
    sys.exit()
found, notes = end(start())
expect("another algorithm than the first, no note", found != plain and not notes)
products = ALGORITHM.findall(text())
expect("every product has the fastest", all(x.split()[4] == "0" * 15 + "1" for x in products))
if case == "kept":
    before = os.stat(tuned)
    expect("the same bits again", end(start()) == (found, []))
    after = os.stat(tuned)
    expect("read, not written",
           (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns))
elif case == "believed":
    write(with_first())
    expect("what the file says is done", end(start()) == (plain, []))
    expect("again: it is not", end(start(FSDP_CUDA_TUNE="again")) == (found, []))
    expect("again: it is written anew", "0" * 15 + "1" in ALGORITHM.findall(text())[0])
    write(ALGORITHM.sub(" ".join(["0" * 16] * 4 + ["f" * 16] + ["0" * 16] * 3), text()))
    losses, notes = end(start())
    expect("an algorithm that the library does not know is not run, as a note says",
           losses == plain and "the next run tries" in notes[0] and not notes[1:])
    expect("... and found anew by the next run", end(start()) == (found, []))
elif case == "epilogues":
    for name, number in ("gelu", 2), ("gelu's slope", 3), ("a bias's sum", 6):
        write(priced(number, 1e6))
        apart = end(start()) != (found, [])
        expect(f"{name} in a part of its own where the epilogue is slow", apart)
        write(priced(number, 0.01))
        expect(f"{name} in the epilogue where that is fast", end(start()) == (found, []))
    expect("every product with an epilogue has both times",
           all((float(x.split()[-1]) > 0) == (x.split()[13] in "236") for x in text().split("\n")
               if x.startswith("product ")))
    for name, number in ("gelu", 164), ("gelu's slope", 192), ("a bias's sum", 512):
        expect(f"{name} in a part of its own where the epilogue takes longer",
               again(FSDP_EMULATE_EPILOGUES_SLOW=f",{number},") != found)
        expect(f"{name} in a part of its own where there is no epilogue",
               again(FSDP_EMULATE_EPILOGUES_LACK=f",{number},") != found)
    expect("a bias in front of the product where there is no epilogue",
           all(abs(a[0] - b[0]) < 1e-2 * b[0]
               for a, b in zip(again(FSDP_EMULATE_EPILOGUES_LACK=",4,164,"), found)))
    expect("the epilogues where they are as fast", again() == found)
elif case == "bad":
    def tried(what, say, **settings):
        """With a process that fails while it tries: the first algorithm, and then too."""
        os.remove(tuned)
        losses, notes = end(start(**settings))
        expect(f"{what}: the bits of the first algorithm", losses == plain)
        good = all("algorithm 2 of cuBLASLt" in n and say in n for n in notes)
        expect("... a note about each product", good and len(notes) == len(products))
        rows = [x.split(" ", 2)[2] for x in text().splitlines() if x.startswith("left ")]
        expect("... and a line of the file",
               sorted(f"note: {row}; it is left out" for row in rows) == sorted(notes))
        expect("... which the next run believes", end(start()) == (plain, []))
    tried("an algorithm that crashes", "ended by signal 9 (Killed)",
          FSDP_EMULATE_CRASH="algorithm 1")
    tried("one with an illegal access", "an illegal memory access was encountered",
          FSDP_EMULATE_ILLEGAL="algorithm 1")
    tried("one that hangs", "did nothing for 4 s and was killed", FSDP_TIMEOUT="8",
          FSDP_EMULATE_HANG="algorithm 1")
    expect("again: they are tried again", end(start(FSDP_CUDA_TUNE="again")) == (found, []))
    os.remove(tuned)
    losses, notes = end(start(FSDP_EMULATE_TRIAL_MEMORY="1000000"))
    expect("no room to try any: the first algorithm, and two notes", losses == plain and
           "GPU 0 is too small" in notes[0] and "not all algorithms were tried" in notes[1])
    expect("... and the next run tries", end(start()) == (found, []))
elif case == "ignored":
    good = text()
    for name, content, settings in (
            ("damaged", good.replace("product ", "produce ", 1), {}),
            ("damaged", good[:len(good) // 2], {}),
            ("written by another version", good.replace("products 5", "products 4"), {}),
            ("another version of its libraries", good, {"FSDP_EMULATE_CUBLASLT": "130200"})):
        write(content, seal=False)
        losses, notes = end(start(**settings))
        one = len(notes) == 1 and "is ignored" in notes[0] and name in notes[0]
        expect(f"one note: {name}", one)
        expect("the same bits, a good file", losses == found and end(start(**settings))[1] == [])
else:
    content = with_first()
    os.remove(tuned)
    with open(plan, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begun = [start(log=f"log{i}") for i in range(2)]
        time.sleep(1.5)
        expect("both wait", not os.path.exists(tuned) and all(b[1].poll() is None for b in begun))
        write(content)
        content = text()
    expect("both read what the first one wrote", all(end(b) == (plain, []) for b in begun))
    expect("neither writes", text() == content)

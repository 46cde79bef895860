# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; %python left.py %fsdp-run %build/tests/modules/crash.so
# Parts that no process holds go when the next run saves there, before it asks whether there is room; the others stay.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== left.py
import fcntl, os, re, subprocess, sys
def found():
    names = [os.path.join(at, name) for at, folders, files in os.walk(".") for name in folders + files]
    return sorted(re.sub(r"part-\d\d+", "part-N", name[2:]) for name in names if "part-" in name)
def save(where, **environment):
    command = [sys.argv[1], "--threads", "1", "--save", where, "p"]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
os.mkdir("g")
for where in "w", "f/", "g/":
    save(where, CRASH_IN="part", CRASH_AT="4", LD_PRELOAD=sys.argv[2])
print(found())
live = [open("w.part-1", "w"), open("g/.part-1", "w")]
for name in "w.part-", "w.part-7x", "ww.part-77":
    open(name, "w").close()
for file in live:
    fcntl.flock(file, fcntl.LOCK_EX)
for where in "w", "f/", "g/":
    done = save(where)
    print(done.returncode, *sorted(re.findall("note: (.*), left", re.sub(r"part-\d\d+", "part-N", done.stderr))))
print(found())
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
config hf { model_type = "toy" }
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
['f.part-N', 'f.part-N/model.safetensors', 'g/.part-N', 'g/.part-N/model.safetensors', 'w.part-N']
0 removed w.part-N
0 removed f.part-N
0 removed g/.part-N
['g/.part-1', 'w.part-', 'w.part-1', 'w.part-7x', 'ww.part-N']

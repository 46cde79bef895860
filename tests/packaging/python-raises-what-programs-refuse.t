# RUN: bash %root/tests/packaging/package.sh %root %build; seq 2000 >t.txt; python3 -B more.py | sed -E 's/glibc [0-9.]+: /glibc HERE: /; s/not [a-z0-9_]+ \[/not PROCESSOR [/'
# Errors of the programs are exceptions with place, remedy and exit code; warnings are Python's; an older glibc and
# another processor are refused by name. Leaving the loop ends the run and saves.
# NEEDS: build:device_cpu.so sanitizer:none
==== gpt.fsd
module Net {
  emb  : Embedding(256, 16)
  head : Linear(16, 256)
  forward(x) = head(emb(x))
}
model = Net
data  { train = text("t.txt"); val = text("t.txt"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 6; optimizer = adamw(lr = 1e-2)
        eval_every = 3; eval_steps = 1 }
shard { unit = Linear }
==== more.py
import os, warnings, fsdpc
def attempt(call):
    try:
        return call()
    except fsdpc.Error as error:
        print(error.code, error, [(d["code"], d["file"], d["line"]) for d in error.diagnostics])
attempt(lambda: fsdpc.compile("gpt.fsd", set={"train.batch": 7}, ranks=2))
attempt(lambda: fsdpc.compile("gpt.fsd", set={"train.loss": "cross(1)"}))
attempt(lambda: fsdpc.compile("none.fsd"))
attempt(lambda: fsdpc.compile("gpt.fsd", colour=1))
attempt(lambda: fsdpc.Plan("none.bin"))
attempt(lambda: list(fsdpc.compile("gpt.fsd").run(load="nowhere")))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("ignore"); warnings.simplefilter("always", UserWarning)
    fsdpc.compile("gpt.fsd", set={"shard.hold": True})
    fsdpc.compile("gpt.fsd")
print(*[w.message for w in told], sep="\n")
try:
    list(fsdpc.compile("gpt.fsd").run(log="x.jsonl"))
except TypeError as error:
    print(error)
plan = fsdpc.compile("gpt.fsd", out="kept.bin", mesh={"dp": 2}, set={
    "train.steps": 10**6, "train.clip": None, "train.eval_every": 10**6, "shard.prefetch": 1})
for event in fsdpc.Plan("kept.bin").run(save="left.safetensors", threads=1):
    if event["event"] == "step" and event["step"] == 5:
        break
print(os.path.exists("left.safetensors"), plan.units[0])
fsdpc.built_for.GLIBC = "99.1"
attempt(lambda: fsdpc.compile("gpt.fsd"))
fsdpc.built_for.MACHINE = "vax"
attempt(lambda: fsdpc.compile("gpt.fsd"))
==== out
1 -s:1:1: error[E0319]: batch = 7 is not divisible by 2 ranks x 1 micro-batch
  help: valid sizes: 6, 8, 10 [('E0319', '-s', 1)]
1 -s:1:12: error[E0207]: there is no function or module `cross` here
  help: did you mean `cross_entropy`? [('E0207', '-s', 1)]
2 error[E0110]: cannot read none.fsd: No such file or directory [('E0110', None, 0)]
1 error[E0502]: `fsdpc compile` has no option `--colour`
  help: fsdpc compile --help lists them [('E0502', None, 0)]
2 error: cannot read none.bin: No such file or directory [(None, None, 0)]
2 error: cannot open nowhere: No such file or directory []
-s:1:12: warning[W0302]: train.accumulate = 1: hold has no effect
run() takes no log: it yields the lines of --log
True Unit(path='head', module='Linear', parameters_below=4096, parameters=4096)
2 this fsdpc needs glibc 99.1 or newer; this system has glibc HERE: build it here from source []
2 this fsdpc is for processors of kind vax, not PROCESSOR []

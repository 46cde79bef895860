# RUN: %python run.py %root %fsdpc %fsdp-run
# Each file of models/ trains without any other file, with generated data where it names data files.
# NEEDS: build:device_cpu.so
# TIME: 60
==== run.py
import pathlib, subprocess, sys
root, fsdpc, run = sys.argv[1:]
small = "D=32 H=2 L=1 vocab=64 seq=16 data.length=16"
sizes = {"bert": small, "gpt2": small, "gpt-text": small, "gpt3-175b": small, "gptj": small + " rot=8", "llama2": small + " KV=2 F=32",
         "llama3": small + " KV=2 F=32", "mixtral": small + " KV=2 F=32", "t5": small.replace("seq=16", "dk=8 F=32"),
         "linear": "", "mlp": "train.epochs=none", "six-layers": ""}
made = ["data.train=synthetic_tokens(vocab)", "data.val=synthetic_tokens(vocab, seed = 1)"]
for path in sorted(pathlib.Path(root, "models").glob("*.fsd")):
    if path.stem == "std":
        continue
    settings = sizes[path.stem].split() + ["train.batch=4", "train.steps=2", "train.schedule=constant()"]
    settings += made if path.stem in ("gpt2", "gpt-text") else []
    if "eval_every" in path.read_text():
        settings += ["train.eval_every=2", "train.eval_steps=1"]
    command = [fsdpc, "compile", "-q", path, "-o", "p", "-n", "2", *(x for s in settings for x in ("-s", s))]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.returncode:
        done = subprocess.run([run, "--threads", "1", "p"], capture_output=True, text=True)
    print(path.stem, "runs" if "last loss" in done.stdout else done.stderr)
==== out
bert runs
gpt-text runs
gpt2 runs
gpt3-175b runs
gptj runs
linear runs
llama2 runs
llama3 runs
mixtral runs
mlp runs
six-layers runs
t5 runs
